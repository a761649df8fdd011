/** What a machine's disk has besides Debian's packages: plain files, so that one reads here how the machine is set up. */

/** Where the disk with what is tested is mounted. */
export const PAYLOAD = '/opt/payload'

/** The disks of a machine by their serial numbers, so that their order does not matter. */
export const disks = { root: 'root', payload: 'payload', data: 'data', swap: 'swap' } as const

/** Where the machine finds a disk. */
export function diskPath(name: keyof typeof disks): string {
  return `/dev/disk/by-id/virtio-${disks[name]}`
}

/** The huge pages of 2 MiB that the kernel sets aside at boot, half of them on each NUMA node. */
export const HUGE_PAGES = 64

/** Packages of every machine, besides the kernel. */
export const imagePackages: readonly string[] = [
  'systemd',
  'systemd-sysv',
  'udev',
  'dbus',
  'initramfs-tools',
  'zstd',
  'kmod',
  'openssh-server',
  'conntrack',
  'containerd',
  'runc',
  'containernetworking-plugins',
  'iptables',
  'nftables',
  'iproute2',
  'e2fsprogs',
  'xfsprogs',
  'quota',
  'apparmor',
  'procps',
  'mount',
  'util-linux',
  'busybox-static',
  'catatonit',
  'libatomic1',
  'ca-certificates',
  'curl',
]

/** Path to content, for the settings of packages that read them while they are installed. */
export const earlyFiles: Readonly<Record<string, string>> = {
  // Nothing but what it takes to find the disk: a small initrd is unpacked soon.
  '/etc/initramfs-tools/conf.d/small': 'MODULES=list\nCOMPRESS=zstd\n',
  '/etc/initramfs-tools/modules': 'virtio_pci\nvirtio_mmio\nvirtio_blk\next4\n',
}

/** Path to content, written over what the packages brought. */
export function imageFiles(publicKey: string): Readonly<Record<string, string>> {
  return {
    // A machine that has run before, for systemd: no setting up at the first boot.
    '/etc/machine-id': 'deca0000000000000000000000000001\n',
    '/etc/.updated': '',
    '/var/.updated': '',
    '/etc/hostname': 'machine\n',
    '/etc/hosts': '127.0.0.1 localhost\n127.0.1.1 machine\n::1 localhost\n',
    '/etc/fstab': [
      `${diskPath('root')} / ext4 defaults 0 1`,
      `${diskPath('payload')} ${PAYLOAD} ext4 defaults 0 0`,
      // The agent's root directory: emptyDir volumes are below it, and their sizes are counted by project. Empty at the first boot.
      `${diskPath('data')} /var/lib/kubelet xfs defaults,prjquota,x-systemd.makefs 0 0`,
      `${diskPath('swap')} none swap defaults,x-systemd.makefs 0 0`,
      '',
    ].join('\n'),
    '/root/.ssh/authorized_keys': publicKey,
    '/etc/ssh/sshd_config.d/machine.conf': 'PermitRootLogin prohibit-password\nUsePAM no\nUseDNS no\nMaxSessions 100\n',
    '/etc/systemd/network/20-dhcp.network': '[Match]\nName=en* eth*\n\n[Network]\nDHCP=ipv4\nIPv6AcceptRA=no\n',
    // The journal outlives a boot, as on most machines, and is on the disk when power is cut.
    '/etc/systemd/journald.conf.d/machine.conf': '[Journal]\nStorage=persistent\nSyncIntervalSec=5s\n',
    // Under emulation everything takes long; that is no fault of a unit.
    '/etc/systemd/system.conf.d/machine.conf': '[Manager]\nDefaultTimeoutStartSec=300s\nDefaultDeviceTimeoutSec=300s\n',
    '/etc/modules-load.d/machine.conf': 'overlay\nbr_netfilter\n',
    '/etc/sysctl.d/90-machine.conf': 'net.ipv4.ip_forward = 1\n',
    '/etc/cni/net.d/10-bridge.conflist': `${JSON.stringify(network, undefined, 2)}\n`,
    '/etc/containerd/config.toml': containerdConfig,
  }
}

/** Links, path to target: units to start at boot, those not to start. */
export const imageLinks: Readonly<Record<string, string>> = {
  // As the unit in the docs has it.
  '/opt/deckhand': `${PAYLOAD}/node_modules/deckhand`,
  '/etc/systemd/system/multi-user.target.wants/systemd-networkd.service':
    '/usr/lib/systemd/system/systemd-networkd.service',
  // Timers of Debian's own upkeep would take CPU time from the tests.
  ...Object.fromEntries(
    ['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'e2scrub_all.timer', 'fstrim.timer'].map(
      (unit) => [`/etc/systemd/system/${unit}`, '/dev/null'],
    ),
  ),
}

const network = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.88.0.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
}

// As the docs ask for: the systemd cgroup driver here and in the agent.
const containerdConfig = `version = 2

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "deckhand.local/pause:1"

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "/etc/cni/net.d"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = true
`
