/** The disk that brings what is tested into a machine: the package as npm would install it, Node, images, and the sources for tests that need them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { createNodeImages } from '../../src/standalone/images/node-images.ts'
import { createOciArchive } from '../../src/standalone/images/oci-archive.ts'
import { buildPrograms } from '../build-programs.ts'
import { openNode } from '../package/open-node.ts'
import { disks } from './image-files.ts'
import { makeDisk } from './vm-image.ts'
import type { VmImage } from './vm-image.ts'

interface PayloadRequest {
  /** Of the checkout. */
  readonly root: string
  readonly image: VmImage
  /** The Debian packages to install there. */
  readonly packages: readonly string[]
  /** For the disk; removed by the caller. */
  readonly folder: string
  readonly signal: AbortSignal
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly dependencies?: Readonly<Record<string, string>> }>
  >
}

// What the sources and those of their tests that run on a machine import.
const importedPackages = [
  '@bufbuild/protobuf',
  '@grpc/grpc-js',
  '@peculiar/x509',
  'fast-check',
  'prom-client',
  'reflect-metadata',
  'yaml',
]
const GIBIBYTES = 2

/** The path of the disk. */
export async function makePayload(request: PayloadRequest): Promise<string> {
  const { root, folder, image, signal } = request
  const tree = join(folder, 'payload')
  const file = join(folder, 'payload.img')
  try {
    // "files" of package.json, which is what a user gets from npm.
    const installed = join(tree, 'node_modules/deckhand')
    for (const name of ['bin', 'docs', 'package.json'])
      cpSync(join(root, name), join(installed, name), { recursive: true })
    mkdirSync(join(installed, 'dist'))
    await buildPrograms(root, join(installed, 'dist'))
    const node = `node_modules/node-linux-${image.hardware.node}`
    cpSync(findNode(request, join(root, node)), join(tree, node), { recursive: true })
    copySources(root, join(tree, 'checkout'))
    symlinkSync(`../../${node}`, join(tree, 'checkout', node))
    mkdirSync(join(tree, 'images'))
    writeFileSync(join(tree, 'images/node.tar'), createImages(image))
    for (const path of request.packages) copyPackage(path, join(tree, 'packages'))
    await makeDisk({ file, gibibytes: GIBIBYTES, label: disks.payload, tree, signal })
    return file
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

/** The npm package with Node for the machine's architecture; npm installs only that of this one. */
function findNode({ root, folder, image }: PayloadRequest, own: string): string {
  if (image.hardware.node === process.arch) return own
  const work = join(folder, 'node')
  mkdirSync(work, { recursive: true })
  return dirname(dirname(openNode(root, work, image.hardware.node).path))
}

function copySources(root: string, target: string): void {
  for (const name of ['bin', 'src', 'test', 'tools', 'package.json'])
    cpSync(join(root, name), join(target, name), { recursive: true })
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  for (const name of withDependencies(lock, importedPackages))
    cpSync(join(root, 'node_modules', name), join(target, 'node_modules', name), { recursive: true })
}

/** These packages and all that they need; one of a name is enough, since npm puts the common version at the top. */
export function withDependencies({ packages }: Lock, names: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const open = [...names]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    open.push(...Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {}))
  }
  return [...found]
}

/** The package, and the same as a later version. */
function copyPackage(path: string, target: string): void {
  const later = join(target, 'later')
  const tree = join(target, 'tree')
  mkdirSync(later, { recursive: true })
  cpSync(path, join(target, basename(path)))
  execFileSync('dpkg-deb', ['--raw-extract', path, tree])
  const control = join(tree, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replaceAll(/\d+\.\d+\.\d+-1\b/g, '99.0.0-1'))
  // Not compressed: an emulated machine unpacks it slowly.
  const argv = ['--root-owner-group', '-Znone', '--build', tree, join(later, basename(path))]
  execFileSync('dpkg-deb', argv, { stdio: 'ignore' })
  rmSync(tree, { recursive: true })
}

function createImages({ hardware, programs }: VmImage): Buffer {
  const { stdout } = spawnSync(programs.busybox, ['--list'], { encoding: 'utf8' })
  const images = createNodeImages({
    catatonit: readFileSync(programs.catatonit),
    busybox: readFileSync(programs.busybox),
    // It is a static one.
    libraries: new Map(),
    applets: stdout.split('\n').filter((applet) => applet !== ''),
    // No check fetches anything.
    hasWgetTimeout: true,
  })
  return createOciArchive(images, hardware.architecture)
}
