"""The command line: one file per command; options, one call into jobs/, printing. May import everything."""
