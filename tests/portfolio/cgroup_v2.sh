#!/bin/sh
# Runs the tests of limits under cgroups of version 2, in a virtual machine: for hosts that have
# version 1 only, or none. Needs Linux with /dev/kvm, and on Debian or Ubuntu
#   apt-get install qemu-system-x86 busybox-static cpio kmod
# The machine boots Debian's kernel (downloaded once, never installed) on this machine's own files,
# read-only, with an overlay in memory, so that it has the same Python and the same packages.
#
# usage: tests/portfolio/cgroup_v2.sh [PYTHON [what pytest takes …]]
set -eu
python=$(command -v "${1:-python3}")
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- tests/portfolio/test_control_groups.py tests/portfolio/test_hostile_arms.py
repository=$(cd "$(dirname "$0")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pickbest-kernel
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! ls "$cache"/boot/vmlinuz-* >/dev/null 2>&1; then
    mkdir -p "$cache"
    package=$(apt-cache depends linux-image-amd64 | awk '/Depends:/ { print $2; exit }')
    (cd "$work" && apt-get -qq download "$package" && dpkg -x ./*.deb "$cache")
fi
version=$(basename "$cache"/lib/modules/*)
depmod -b "$cache" "$version"

mkdir -p "$work/initrd/bin" "$work/initrd/modules"
cp "$(command -v busybox)" "$work/initrd/bin/"
for name in virtio_pci 9p 9pnet_virtio overlay; do
    modprobe -d "$cache" -S "$version" --show-depends "$name"
done | awk '/insmod/ && !seen[$2]++ { print $2 }' | nl -n rz | while read -r place module; do
    cp "$module" "$work/initrd/modules/$place.ko"
done
cat >"$work/initrd/command" <<COMMAND
set -e; cd '$repository'; mkdir /tmp/home; umask 022
export HOME=/tmp/home PATH='$PATH' PYTHONPATH='$repository/src'
export NUMBA_DISABLE_JIT=1 # a few rounds do not repay compiling
'$python' -m pytest -p no:cacheprovider --color=no -W ignore:overflow:RuntimeWarning -q $*
COMMAND
cat >"$work/initrd/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /below /above /root
mount -t proc none /proc
for module in /modules/*.ko; do insmod "$module"; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /below
mount -t tmpfs none /above
mkdir /above/upper /above/work
mount -t overlay -o lowerdir=/below,upperdir=/above/upper,workdir=/above/work none /root
mount -t proc none /root/proc
mount -t sysfs none /root/sys
mount -t devtmpfs none /root/dev
mkdir -p /root/dev/shm && ln -s /proc/self/fd /root/dev/fd
for folder in dev/shm tmp run; do mount -t tmpfs -o mode=1777 none /root/$folder; done
mount -t cgroup2 none /root/sys/fs/cgroup
echo "+cpu +memory +pids" >/root/sys/fs/cgroup/cgroup.subtree_control
mkdir /root/sys/fs/cgroup/tests
ip link set lo up
cp /command /root/tmp/command
echo "Linux $(uname -r), controllers: $(cat /root/sys/fs/cgroup/tests/cgroup.controllers)"
(echo 0 >/root/sys/fs/cgroup/tests/cgroup.procs && exec chroot /root /bin/sh /tmp/command)
echo "exit code $?"
poweroff -f
INIT
chmod +x "$work/initrd/init"
(cd "$work/initrd" && find . | cpio --quiet -o -H newc | gzip -1 >"$work/initrd.gz")

qemu-system-x86_64 -machine "accel=${ACCELERATOR:-kvm:tcg}" -cpu max -smp 2 -m 6G -nographic -no-reboot -nic none \
    -kernel "$cache/boot/vmlinuz-$version" -initrd "$work/initrd.gz" \
    -append "console=ttyS0 quiet loglevel=3 panic=-1 transparent_hugepage=never" \
    -virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap" \
    </dev/null | sed -u 's/\r//' | tee "$work/log"
grep -q '^exit code 0' "$work/log"
