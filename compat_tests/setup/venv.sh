#!/bin/sh
# venv.sh PYTHON DIRECTORY: a virtual environment from a Python that is new enough, or a line that says what is missing.
set -eu
python=$1
directory=$2
fail() { echo "set-up: $*" >&2; exit 1; }

[ -n "$python" ] || fail "no python3 found; install Python 3.11 or newer"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$python is $("$python" -V 2>&1); Python 3.11 or newer is needed (make PYTHON=/path/to/python3.11 ...)"
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    package="python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    [ "$(id -u)" = 0 ] || fail "$python has no ensurepip: as root, apt-get update && apt-get install $package"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" > /dev/null
fi
echo "set-up: a virtual environment in $directory, for $("$python" -V 2>&1)"
"$python" -m venv "$directory"
"$directory/bin/python" -m pip install -q --upgrade pip
