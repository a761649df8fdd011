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

const CNI_PROGRAMS = '/usr/lib/cni'
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
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.erofs',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.internal.v1.opt',
  'io.containerd.internal.v1.tracing',
  'io.containerd.tracing.processor.v1.otlp',
]

/** The release of a containerd, as far as its configuration depends on it. */
export interface ContainerdRelease {
  readonly major: number
  readonly minor: number
}

export interface ContainerdOptions {
  readonly release: ContainerdRelease
  readonly sandboxImage: string
  readonly snapshotter: Snapshotter
  /** What runs containers: the name or the path of a program with runc's command line. */
  readonly ociRuntime: string
  /** Names of runtime handlers; pods that name none get the first. */
  readonly handlers: readonly [string, ...string[]]
}

type Section = readonly [name: string | undefined, entries: Readonly<Record<string, TomlValue>>]

/** From what "containerd --version" prints; undefined where that is no release, such as a private build. */
export function parseContainerdRelease(printed: string): ContainerdRelease | undefined {
  const [, major, minor] = /\sv?(\d+)\.(\d+)\.\d/.exec(printed) ?? []
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}

/** The config.toml of a private containerd that serves CRI. */
export function createContainerdConfig(paths: ContainerdPaths, options: ContainerdOptions): string {
  const { major, minor } = options.release
  const isOld = major === 1 && minor < 7
  const sections: readonly Section[] = [
    [
      undefined,
      {
        version: major >= 2 ? 3 : 2,
        root: paths.root,
        state: paths.state,
        disabled_plugins: unneededPlugins,
        oom_score: 0,
      },
    ],
    ['grpc', { address: paths.socket }],
    // The socket for its plugins has one place on a machine, which belongs to the machine's own containerd.
    ...(isOld ? [] : ([['plugins."io.containerd.nri.v1.nri"', { disable: true }]] as const)),
    ...(major >= 2 ? sectionsOfTwo(paths, options) : sectionsOfOne(paths, options, isOld)),
  ]
  return sections.map(([name, entries]) => toSection(name, entries)).join('\n')
}

const STREAMING = { disable_tcp_service: true, stream_server_address: '127.0.0.1', stream_server_port: '0' }

const RUNNING = {
  // Without CAP_SYS_RESOURCE a lower oom_score_adj than our own is rejected, and with it the whole container.
  restrict_oom_score_adj: true,
  netns_mounts_under_state_dir: true,
}

/** One plugin serves CRI, has the images and runs the pods. */
function sectionsOfOne(paths: ContainerdPaths, options: ContainerdOptions, isOld: boolean): readonly Section[] {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  // Off by default in 1.7, unknown before.
  const devices = isOld ? {} : { enable_cdi: true }
  const { sandboxImage, snapshotter, handlers } = options
  return [
    [cri, { sandbox_image: sandboxImage, ...RUNNING, ...devices, ...STREAMING }],
    [`${cri}.containerd`, { snapshotter, default_runtime_name: handlers[0] }],
    ...toHandlers(cri, paths, options),
    [`${cri}.cni`, { bin_dir: CNI_PROGRAMS, conf_dir: paths.cniConfig }],
    [`${cri}.registry`, { config_path: paths.registries }],
  ]
}

/** Three plugins do it. */
function sectionsOfTwo(paths: ContainerdPaths, options: ContainerdOptions): readonly Section[] {
  const runtime = 'plugins."io.containerd.cri.v1.runtime"'
  const images = 'plugins."io.containerd.cri.v1.images"'
  const { sandboxImage, snapshotter, handlers } = options
  return [
    ['plugins."io.containerd.grpc.v1.cri"', STREAMING],
    [images, { snapshotter }],
    [`${images}.pinned_images`, { sandbox: sandboxImage }],
    [`${images}.registry`, { config_path: paths.registries }],
    [runtime, { ...RUNNING, enable_cdi: true }],
    [`${runtime}.containerd`, { default_runtime_name: handlers[0] }],
    ...toHandlers(runtime, paths, options),
    [`${runtime}.cni`, { bin_dir: CNI_PROGRAMS, conf_dir: paths.cniConfig }],
  ]
}

function toHandlers(plugin: string, paths: ContainerdPaths, options: ContainerdOptions): readonly Section[] {
  return options.handlers.flatMap((handler): readonly Section[] => {
    const section = `${plugin}.containerd.runtimes.${handler}`
    return [
      [section, { runtime_type: 'io.containerd.runc.v2' }],
      [`${section}.options`, { BinaryName: options.ociRuntime, SystemdCgroup: false, Root: paths.runcRoot }],
    ]
  })
}

type TomlValue = string | number | boolean | readonly string[]

function toSection(name: string | undefined, entries: Readonly<Record<string, TomlValue>>): string {
  // JSON's strings, numbers, booleans and lists of strings are valid TOML.
  const lines = Object.entries(entries).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
  return `${name === undefined ? '' : `[${name}]\n`}${lines.join('')}`
}
