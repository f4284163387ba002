"""Set-up steps that the Makefile calls.

``venv.sh`` makes the virtual environment, ``debian.sh`` installs or asks for Debian packages.
May import the standard library only.
"""
