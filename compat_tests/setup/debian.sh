#!/bin/sh
# Makes sure that the programs the client tests run are there; as root, installs the Debian packages of missing ones.
set -eu

missing=""
need() { command -v "$1" > /dev/null 2>&1 || missing="$missing $2"; }
need kcat kcat
need javac openjdk-17-jdk-headless
need java openjdk-17-jre-headless
need mvn maven
need go golang-go
need etcd etcd-server
need unshare util-linux
need mount mount

if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "set-up: the tests need more programs than there are here; as root:" >&2
        echo "    apt-get update && apt-get install$missing" >&2
        exit 1
    fi
    echo "set-up: installing$missing"
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null
fi

java=$(javac -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')
[ "$java" -ge 17 ] || { echo "set-up: javac $java is too old, 17 is needed" >&2; exit 1; }
go=$(GOTOOLCHAIN=local go env GOVERSION | sed 's/^go1\.\([0-9]*\).*/\1/')
[ "$go" -ge 19 ] || { echo "set-up: Go 1.$go is too old, 1.19 is needed" >&2; exit 1; }
