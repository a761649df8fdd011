import { exitCodes, NodeError } from '../node-error.ts'
/** Where one private containerd keeps its things; all below one folder. */
export interface ContainerdPaths {
  readonly folder: string
  readonly root: string
  readonly state: string
  readonly runcRoot: string
  readonly socket: string
  readonly config: string
  readonly log: string
  readonly identity: string
  readonly cniConfig: string
  readonly cniLeases: string
  /** A folder per registry host with a hosts.toml, as containerd's documentation describes. */
  readonly registries: string
}

export type Snapshotter = 'overlayfs' | 'native'

// A unix socket's address has 108 bytes; containerd adds ".ttrpc" to ours.
const LONGEST_SOCKET_PATH = 100

/** The layout of a private containerd's folder. */
export function containerdPaths(folder: string): ContainerdPaths {
  const socket = `${folder}/containerd.sock`
  if (Buffer.byteLength(socket) > LONGEST_SOCKET_PATH) {
    throw new NodeError(
      `Cannot use "${folder}" for containerd: the path of its socket would be too long, expected at most ${LONGEST_SOCKET_PATH} bytes`,
      exitCodes.unfitMachine,
    )
  }
  return {
    folder,
    root: `${folder}/root`,
    state: `${folder}/state`,
    runcRoot: `${folder}/runc`,
    socket,
    config: `${folder}/config.toml`,
    log: `${folder}/containerd.log`,
    identity: `${folder}/containerd.pid`,
    cniConfig: `${folder}/cni`,
    cniLeases: `${folder}/cni-leases`,
    registries: `${folder}/registries`,
  }
}

// Snapshotters that probe for kernel features that are not needed here, a folder in /opt, and telemetry.
const unneededPlugins = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.internal.v1.opt',
  'io.containerd.internal.v1.tracing',
  'io.containerd.tracing.processor.v1.otlp',
]

/** The config.toml of a private containerd that serves CRI. */
export function createContainerdConfig(
  paths: ContainerdPaths,
  options: { readonly sandboxImage: string; readonly snapshotter: Snapshotter },
): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  const runc = `${cri}.containerd.runtimes.runc`
  const sections: readonly (readonly [name: string | undefined, entries: Readonly<Record<string, TomlValue>>])[] = [
    [undefined, { version: 2, root: paths.root, state: paths.state, disabled_plugins: unneededPlugins, oom_score: 0 }],
    ['grpc', { address: paths.socket }],
    [
      cri,
      {
        sandbox_image: options.sandboxImage,
        // Without CAP_SYS_RESOURCE a lower oom_score_adj than our own is rejected, and with it the whole container.
        restrict_oom_score_adj: true,
        netns_mounts_under_state_dir: true,
        disable_tcp_service: true,
        stream_server_address: '127.0.0.1',
        stream_server_port: '0',
      },
    ],
    [`${cri}.containerd`, { snapshotter: options.snapshotter, default_runtime_name: 'runc' }],
    [runc, { runtime_type: 'io.containerd.runc.v2' }],
    [`${runc}.options`, { SystemdCgroup: false, Root: paths.runcRoot }],
    [`${cri}.cni`, { bin_dir: '/usr/lib/cni', conf_dir: paths.cniConfig }],
    [`${cri}.registry`, { config_path: paths.registries }],
  ]
  return sections.map(([name, entries]) => toSection(name, entries)).join('\n')
}

type TomlValue = string | number | boolean | readonly string[]

function toSection(name: string | undefined, entries: Readonly<Record<string, TomlValue>>): string {
  // JSON's strings, numbers, booleans and lists of strings are valid TOML.
  const lines = Object.entries(entries).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
  return `${name === undefined ? '' : `[${name}]\n`}${lines.join('')}`
}
