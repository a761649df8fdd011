import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A runtime that the contract is tried on. */
export interface RuntimeUnderTest extends AsyncDisposable {
  readonly endpoint: string
  /** An image with busybox. */
  readonly image: string
  /** A cgroup that holds all that the runtime makes. */
  readonly cgroupParent: string
}

const PAUSE = 'localhost/deckhand/pause:1'
const BUSYBOX = 'localhost/deckhand/busybox:1'
const APPLETS = ['sh', 'echo', 'sleep', 'cat', 'true', 'false', 'ls']

/** Starts containerd with its own state, network and mounts, and two images made on the spot. */
export async function startLab(): Promise<RuntimeUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'dh-'))
  const socket = join(folder, 'c.sock')
  writeFileSync(join(folder, 'config.toml'), containerdConfig(folder))
  mkdirSync(join(folder, 'cni'))
  writeFileSync(join(folder, 'cni/10-bridge.conflist'), JSON.stringify(CNI))
  const log = openSync(join(folder, 'containerd.log'), 'a')
  // runc and the shims keep state in /run/containerd whatever the configuration says, so it gets a private one.
  const script =
    'mkdir -p /run/containerd && mount -t tmpfs none /run/containerd && ip link set lo up && exec containerd -c "$1"'
  const child = spawn(
    'unshare',
    [
      '--mount',
      '--net',
      '--pid',
      '--fork',
      '--mount-proc',
      '--kill-child',
      'sh',
      '-ec',
      script,
      'sh',
      join(folder, 'config.toml'),
    ],
    { stdio: ['ignore', log, log] },
  )
  const exited = once(child, 'exit')
  const cgroupParent = `/${folder.split('/').at(-1)}`
  try {
    for (let tries = 0; !existsSync(socket) || run('ctr', ['-a', socket, 'version']) !== ''; tries += 1) {
      if (tries === 100 || child.exitCode !== null) {
        throw new Error(`Cannot start containerd: ${readFileSync(join(folder, 'containerd.log'), 'utf8').slice(-2000)}`)
      }
      await delay(100)
    }
    importImage(folder, socket, {
      name: PAUSE,
      files: { '/usr/bin/catatonit': 'catatonit' },
      entrypoint: ['/catatonit', '-P'],
    })
    importImage(folder, socket, { name: BUSYBOX, files: { '/bin/busybox': 'bin/busybox' }, entrypoint: [] })
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return {
    endpoint: `unix://${socket}`,
    image: BUSYBOX,
    cgroupParent,
    async [Symbol.asyncDispose]() {
      // The end of its first process takes the whole PID namespace along: containerd, shims, containers.
      child.kill('SIGKILL')
      await exited
      for (const path of globSync(`/sys/fs/cgroup/{,*/}${cgroupParent}/*`)) rmdirQuietly(path)
      for (const path of globSync(`/sys/fs/cgroup/{,*/}${cgroupParent}`)) rmdirQuietly(path)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const CNI = {
  cniVersion: '0.4.0',
  name: 'contract',
  plugins: [
    {
      type: 'bridge',
      bridge: 'dh0',
      isGateway: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.88.0.0/16' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
}

function containerdConfig(folder: string): string {
  return `
version = 2
root = "${folder}/root"
state = "${folder}/state"
[grpc]
  address = "${folder}/c.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE}"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
[plugins."io.containerd.internal.v1.opt"]
  path = "${folder}/opt"
`
}

interface ImageRecipe {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
}

/** Builds an OCI archive of one layer and hands it to containerd. */
function importImage(folder: string, socket: string, { name, files, entrypoint }: ImageRecipe): void {
  const work = mkdtempSync(join(folder, 'image-'))
  for (const dir of ['bin', 'dev', 'etc', 'proc', 'sys', 'tmp'])
    mkdirSync(join(work, 'rootfs', dir), { recursive: true })
  for (const [from, to] of Object.entries(files)) cpSync(from, join(work, 'rootfs', to))
  for (const applet of APPLETS) symlinkSync('busybox', join(work, 'rootfs/bin', applet))
  mkdirSync(join(work, 'oci/blobs/sha256'), { recursive: true })
  run('tar', ['-C', join(work, 'rootfs'), '-cf', join(work, 'layer.tar'), '.'])
  const put = (bytes: Buffer, mediaType: string) => {
    const hash = createHash('sha256').update(bytes).digest('hex')
    writeFileSync(join(work, 'oci/blobs/sha256', hash), bytes)
    return { mediaType, digest: `sha256:${hash}`, size: bytes.length }
  }
  const json = (value: unknown, mediaType: string) => put(Buffer.from(JSON.stringify(value)), mediaType)
  const layer = put(readFileSync(join(work, 'layer.tar')), 'application/vnd.oci.image.layer.v1.tar')
  const config = json(
    {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Entrypoint: entrypoint, Env: ['PATH=/bin'] },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    },
    'application/vnd.oci.image.config.v1+json',
  )
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  const manifest = json({ schemaVersion: 2, mediaType, config, layers: [layer] }, mediaType)
  const annotations = { 'io.containerd.image.name': name }
  writeFileSync(
    join(work, 'oci/index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
  )
  writeFileSync(join(work, 'oci/oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  run('tar', ['-C', join(work, 'oci'), '-cf', join(work, 'image.tar'), '.'])
  const failure = run('ctr', [
    '-a',
    socket,
    '-n',
    'k8s.io',
    'images',
    'import',
    '--snapshotter',
    'native',
    join(work, 'image.tar'),
  ])
  if (failure !== '') throw new Error(`Cannot import image "${name}": ${failure}`)
}

/** What went wrong, or nothing. */
function run(command: string, args: readonly string[]): string {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? '' : stderr || String(error ?? `exit code ${status}`)
}

function rmdirQuietly(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // A file of the cgroup, not a child; or gone already.
  }
}
