import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** A Node that becomes the executable. */
export interface NodeProgram {
  readonly path: string
  readonly licence: string
  /** What runs its programs on this machine. */
  readonly run: readonly string[]
  /** The program that removes from it what only debuggers need. */
  readonly strip: string
}

export const architectures = {
  x64: { debian: 'amd64', gnu: 'x86_64' },
  arm64: { debian: 'arm64', gnu: 'aarch64' },
} as const

export type Architecture = keyof typeof architectures

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>
}

/** The Node of this machine's architecture as npm installed it; that of another is fetched as the same npm package, and emulated. */
export function openNode(root: string, work: string, architecture: Architecture): NodeProgram {
  const name = `node-linux-${architecture}`
  const isOwn = architecture === process.arch
  const folder = isOwn ? join(root, 'node_modules', name) : fetchPackage(root, work, name)
  const path = isOwn ? process.execPath : join(folder, 'bin/node')
  const { gnu } = architectures[architecture]
  return {
    path,
    licence: readFileSync(join(folder, 'LICENSE'), 'utf8'),
    // Not every user runs it, and an emulator needs more to be installed.
    get run() {
      return isOwn ? [path] : [...findEmulator(gnu), path]
    },
    strip: isOwn ? 'strip' : `${gnu}-linux-gnu-strip`,
  }
}

/** By the version and the checksum of the lock file. */
function fetchPackage(root: string, work: string, name: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const { version = '', integrity = '' } = packages[`node_modules/${name}`] ?? {}
  const output = execFileSync('npm', ['pack', `${name}@${version}`, '--loglevel=error', '--pack-destination', work], {
    encoding: 'utf8',
  })
  const archive = join(work, output.trim())
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found !== integrity)
    throw new Error(`Cannot use ${name} ${version}: its checksum is ${found}, expected ${integrity}`)
  execFileSync('tar', ['-xzf', archive, '-C', work])
  return join(work, 'package')
}

/** Fails with what is missing to make an executable for an architecture; before anything else that takes long. */
export function checkExecutable(architecture: Architecture): void {
  if (architecture !== process.arch) findEmulator(architectures[architecture].gnu)
}

/** With the libraries of the other architecture: on Debian of the packages NAME-arm64-cross. */
function findEmulator(gnu: string): readonly string[] {
  const packages = 'apt-get install qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross libatomic1-arm64-cross'
  const libraries = `/usr/${gnu}-linux-gnu`
  if (!existsSync(`${libraries}/lib`))
    throw new Error(
      `Cannot make an executable for ${gnu}: its libraries are not in ${libraries}; on Debian: ${packages}`,
    )
  for (const name of [`qemu-${gnu}-static`, `qemu-${gnu}`]) {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' })
      return [name, '-L', libraries]
    } catch {
      // The other one, perhaps.
    }
  }
  throw new Error(`Cannot make an executable for ${gnu}: qemu-${gnu} is missing; on Debian: ${packages}`)
}
