# Systems of Debian in folders, for tests: to be sourced. Needs root, the network and debootstrap.

# need_debian_roots: says what is missing and ends the script
need_debian_roots() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "$0: needs to be root, to make a system and to enter it" >&2
    elif ! command -v debootstrap >/dev/null; then
        echo "$0: needs debootstrap: apt-get install debootstrap" >&2
    else
        return 0
    fi
    exit 1
}

# make_debian_root SUITE FOLDER: the smallest system of that release, where there is none yet
make_debian_root() {
    # Those of releases that debootstrap does not know yet are made like the newest one.
    local script=/usr/share/debootstrap/scripts/$1 mirror
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 2>/dev/null | head -n 1)
    if [ ! -e "$2/etc/debian_version" ]; then
        debootstrap --variant=minbase "$1" "$2" "${mirror:-http://deb.debian.org/debian}" "$script" >"$2.log" 2>&1 || {
            tail -n 20 "$2.log" >&2
            echo "$0: debootstrap failed (see above; all of it is in $2.log); it needs the network" >&2
            exit 1
        }
        rm "$2.log"
        apt-config dump Acquire >"$2/etc/apt/apt.conf.d/90host"
    fi
    cp /etc/resolv.conf /etc/hosts "$2/etc/" # MPICH's launcher looks for the machine's own name
}

# in_debian_root FOLDER SCRIPT: what bash runs there, in a mount namespace of its own, so that nothing of it stays
in_debian_root() {
    unshare --mount /bin/bash -euc '
        for folder in proc sys dev dev/pts dev/shm; do mount --bind "/$folder" "$0/$folder"; done
        exec chroot "$0" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
            /bin/bash -euc "$1"' "$1" "$2"
}
