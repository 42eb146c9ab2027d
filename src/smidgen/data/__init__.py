"""Files and named sets → X, y. No arithmetic; imports nothing of smidgen but its errors."""
