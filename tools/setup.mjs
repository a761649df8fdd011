// Installs what a command needs: npm packages by "npm ci", Debian packages by apt-get, built programs. Plain JavaScript, because it runs on the
// machine's own Node, before ours is there. Usage: node tools/setup.mjs runtime|check|package|test|vm
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const purpose = process.argv[2] ?? 'runtime'

// Debian package → a file that shows it is there (a bare name is looked up on PATH).
const runtimePackages = {
  containerd: 'containerd',
  runc: 'runc',
  'containernetworking-plugins': '/usr/lib/cni/bridge',
  'busybox-static': '/bin/busybox',
  catatonit: '/usr/bin/catatonit',
  iproute2: 'ip',
  iptables: 'iptables',
  mount: 'mount',
  nftables: 'nft',
  conntrack: 'conntrack',
}
const testPackages = {
  chromium: '/usr/bin/chromium',
  'dbus-daemon': 'dbus-daemon',
  'docker-registry': 'docker-registry',
  'etcd-client': 'etcdctl',
  'etcd-server': 'etcd',
  'docker.io': 'dockerd',
  'kubernetes-client': 'kubectl',
  'perl-base': 'perl',
  'util-linux': 'nsenter',
}
// What virtual machines are made and run with.
const machinePackages = {
  e2fsprogs: 'mkfs.ext4',
  mmdebstrap: 'mmdebstrap',
  'openssh-client': 'ssh',
  'qemu-utils': 'qemu-img',
  'util-linux': 'setpriv',
}
const purposes = {
  check: {},
  // Without them or without root there is no container image, and a larger executable.
  package: { binutils: 'strip', mmdebstrap: 'mmdebstrap' },
  runtime: runtimePackages,
  test: { ...runtimePackages, ...testPackages },
  vm: { ...machinePackages, 'qemu-system-x86': 'qemu-system-x86_64' },
}
const needsRoot = purpose !== 'check' && purpose !== 'package'
const commands = { test: 'test', vm: 'run test:vm' }
const needed = purposes[purpose]
if (needed === undefined) fail(`Unknown purpose "${purpose}": expected ${Object.keys(purposes).join(', ')}`)

installNpmPackages()
installDebianPackages()
if (needsRoot) buildPrograms()

function installNpmPackages() {
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const marker = join(root, 'node_modules', '.package-lock.json')
  if (existsSync(marker)) {
    const present = JSON.parse(readFileSync(marker, 'utf8'))
    const same = Object.entries(present.packages).every(
      ([path, { version }]) => wanted.packages[path]?.version === version,
    )
    const complete = Object.entries(wanted.packages).every(
      ([path, entry]) => path === '' || entry.optional || present.packages[path] !== undefined,
    )
    if (same && complete) return
  }
  say('installing npm packages (npm ci)')
  run(
    'npm',
    // Those for development too, wherever npm is set up to leave them out: what the programs are made of is among them.
    ['ci', '--include=dev', '--ignore-scripts', '--no-fund', '--loglevel=error'],
    'Cannot install the npm packages: see the output above',
  )
}

/** Without it everything works, only slower: the launchers take the sources then. */
function buildPrograms() {
  if (isBuilt()) return
  say('building (npm run build)')
  const { status } = spawnSync(join(root, 'bin/node'), [join(root, 'tools/build.ts')], { cwd: root, stdio: 'inherit' })
  if (status !== 0) return say('Cannot build: see the output above; going on with the sources')
  // Fills the compile cache, so that the first start is as fast as the later ones.
  for (const [command, argument] of [
    ['kubelet', '--version'],
    ['deckhand', 'version'],
  ]) {
    spawnSync(join(root, 'bin', command), [argument], { stdio: 'ignore' })
  }
}

/** The same question as in bin/launch.sh. */
function isBuilt() {
  const made = statSync(join(root, 'dist/made'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const source = join(root, 'src')
  return ['.', ...readdirSync(source, { recursive: true })].every(
    (path) => statSync(join(source, path)).mtimeMs <= made,
  )
}

function installDebianPackages() {
  const missing = Object.keys(needed).filter((name) => !isThere(needed[name]))
  if (needsRoot && !runsNode()) missing.push('libatomic1')
  if (missing.length === 0 && process.getuid() === 0) return
  if (process.getuid() !== 0) {
    const packages = missing.length === 0 ? '' : `\nMissing Debian packages: apt-get install ${missing.join(' ')}`
    if (!needsRoot) return
    fail(
      `This needs root: containers, cgroups and mounts are the kernel's.${packages}\nRun it again as root (sudo npm ${commands[purpose] ?? 'start'}).`,
    )
  }
  if (!isThere('apt-get'))
    fail(`Missing programs, and no apt-get to install them. Install the equivalents of: ${missing.join(' ')}`)
  say(`installing Debian packages: ${missing.join(' ')}`)
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = ['install', '-y', '-q', '--no-install-recommends', ...missing]
  if (spawnSync('apt-get', install, { env: environment, stdio: 'ignore' }).status === 0) return
  run('apt-get', ['update', '-q'], 'Cannot read the package lists: see the output above', environment)
  run(
    'apt-get',
    install,
    `Cannot install: ${missing.join(' ')}. Install them by hand, then run this again`,
    environment,
  )
}

/** Our Node may lack a shared library that a small Debian does not have. */
function runsNode() {
  return spawnSync(join(root, 'bin/node'), ['--version'], { stdio: 'ignore' }).status === 0
}

function isThere(file) {
  const path = `${process.env.PATH ?? ''}${delimiter}/usr/sbin${delimiter}/sbin`
  return file.startsWith('/')
    ? existsSync(file)
    : path.split(delimiter).some((folder) => existsSync(join(folder, file)))
}

function run(command, args, message, environment = process.env) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: environment })
  if (status !== 0) fail(message)
}

function say(text) {
  process.stderr.write(`setup: ${text}\n`)
}

function fail(text) {
  process.stderr.write(`setup: ${text}\n`)
  process.exit(1)
}
