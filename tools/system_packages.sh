#!/bin/sh
# The Uno's compiler and simulator and Arduino's builder, which come from Debian and not from PyPI. Quiet and fast where all is there.
# Root with apt gets them installed; anyone else gets one line with the command that does, and goes on without the Uno.
# Nothing here calls sudo. Only in CI is a failed installation an error.
PACKAGES="gcc-avr avr-libc simavr libsimavr-dev libelf-dev arduino-builder arduino-core-avr"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    command -v avr-gcc >/dev/null && command -v simavr >/dev/null ||
        echo "no Uno here: install avr-gcc, avr-libc and simavr with its headers by your package manager; going on without"
    exit 0
fi

missing=""
for package in $PACKAGES; do
    case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
        *" installed") ;;
        *) missing="$missing $package" ;;
    esac
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" != 0 ]; then
    echo "no Uno here: as root, run \`apt-get install$missing\`; going on without"
    exit 0
fi

echo "installing$missing ..."
export DEBIAN_FRONTEND=noninteractive
options="-qq -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=120 -o APT::Install-Recommends=false"
said=$( { apt-get update $options; apt-get install --yes $options $missing; } 2>&1 ) && exit 0
if [ -n "$CI" ]; then
    echo "$said"
    echo "apt-get could not install$missing"
    exit 1
fi
echo "no Uno here: apt-get could not install$missing ($(echo "$said" | grep '^E:' | head -n 1)); going on without"
