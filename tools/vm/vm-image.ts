/** The disk of a machine that has never run: made of Debian's packages once, kept in the cache. */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { readCodename, readPackageSource } from '../runtimes/package-source.ts'
import type { PackageSource } from '../runtimes/package-source.ts'
import { cacheFolder } from '../runtimes/runtime-releases.ts'
import { disks, earlyFiles, imageFiles, imageLinks, imagePackages } from './image-files.ts'
import { attemptCommand, runCommand } from './run-command.ts'
import type { VmHardware, VmRelease } from './vm-releases.ts'

/** Files of a machine that has never run. */
export interface VmImage {
  readonly hardware: VmHardware
  readonly disk: string
  readonly kernel: string
  readonly initrd: string
  /** Opens the machine's ssh for root. */
  readonly key: string
  /** Programs of the machine that test images are made of. */
  readonly programs: { readonly busybox: string; readonly catatonit: string }
}

interface ImageRequest {
  readonly release: VmRelease
  readonly hardware: VmHardware
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

const DISK_GIBIBYTES = 6
// What is in the cache was made in this way; another number for another way.
const FORM = 1
const DEADLINE_MS = 3_600_000
// mmdebstrap mounts /proc, /sys and /dev in the tree: only for itself, and gone with it, so that the tree can be removed however it ends.
const alone = ['unshare', '--mount', '--pid', '--fork', '--kill-child']
// What is not needed on such a machine.
const leftOut = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*']

/** The image of a release; made when the cache does not have it. Fails with what could not be had. */
export async function openImage(request: ImageRequest): Promise<VmImage> {
  const { release, hardware } = request
  const name = `${release.suite}-${hardware.architecture}-${computeKey(hardware)}`
  const folder = join(cacheFolder(), 'machines', name)
  if (!existsSync(folder)) await makeImage(request, folder)
  return {
    hardware,
    disk: join(folder, 'root.img'),
    kernel: join(folder, 'vmlinuz'),
    initrd: join(folder, 'initrd'),
    key: join(folder, 'key'),
    programs: { busybox: join(folder, 'busybox'), catatonit: join(folder, 'catatonit') },
  }
}

/** Another one whenever anything that the image is made of changes. */
function computeKey(hardware: VmHardware): string {
  const parts = [FORM, listPackages(hardware), earlyFiles, imageFiles(''), imageLinks, leftOut, DISK_GIBIBYTES]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)
}

function listPackages({ kernelPackage }: VmHardware): readonly string[] {
  return [...imagePackages, kernelPackage]
}

async function makeImage(request: ImageRequest, folder: string): Promise<void> {
  const { release, say, signal } = request
  const source = readPackageSource(readCodename())
  if (source === undefined)
    throw new Error('Cannot make a machine: /etc/apt names no source of the Debian release that this machine runs')
  const { architecture, node } = request.hardware
  if (node !== process.arch) await checkEmulation(architecture)
  const time = node === process.arch ? 'two to five minutes' : 'half an hour, since its programs are emulated'
  say(
    `making the disk of a machine with Debian ${release.number} on ${architecture}, from ${source.uri} (once; ${time})\n`,
  )
  // Beside its place until it is whole.
  const draft = `${folder}.${process.pid}`
  const tree = `${draft}.tree`
  try {
    mkdirSync(draft, { recursive: true })
    await runCommand(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'deckhand', '-f', join(draft, 'key')], {
      signal,
    })
    await installPackages(request, source, tree)
    removeProfiles(tree)
    writeFiles(tree, imageFiles(readFileSync(join(draft, 'key.pub'), 'utf8')))
    for (const [path, target] of Object.entries(imageLinks)) writeLink(join(tree, path), target)
    copy(tree, 'boot/vmlinuz-*', join(draft, 'vmlinuz'))
    copy(tree, 'boot/initrd.img-*', join(draft, 'initrd'))
    copy(tree, '{usr/,}bin/busybox', join(draft, 'busybox'))
    copy(tree, 'usr/bin/catatonit', join(draft, 'catatonit'))
    const disk = join(draft, 'root.img')
    await makeDisk({ file: disk, gibibytes: DISK_GIBIBYTES, label: disks.root, tree, signal })
    renameSync(draft, folder)
  } finally {
    for (const path of [draft, tree]) rmSync(path, { recursive: true, force: true })
  }
}

/** Packages of another architecture are configured by programs of theirs. */
async function checkEmulation(architecture: string): Promise<void> {
  if ((await attemptCommand(['arch-test', architecture])).exitCode === 0) return
  throw new Error(
    `Cannot make a machine with ${architecture}: programs of it do not run here; on Debian: apt-get install arch-test qemu-user-static binfmt-support, with binfmt_misc mounted`,
  )
}

async function installPackages(request: ImageRequest, source: PackageSource, tree: string): Promise<void> {
  const { release, hardware, signal } = request
  const early = `${tree}.early`
  try {
    writeFiles(early, earlyFiles)
    const keyring = source.signedBy === undefined ? [] : [`--keyring=${source.signedBy}`]
    const argv = [
      ...alone,
      'mmdebstrap',
      '--quiet',
      '--variant=minbase',
      '--mode=root',
      '--format=directory',
      `--architectures=${hardware.architecture}`,
      ...keyring,
      '--aptopt=Acquire::Languages "none"',
      ...leftOut.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
      `--include=${listPackages(hardware).join(',')}`,
      `--essential-hook=sync-in ${early} /`,
      release.suite,
      tree,
      source.uri,
    ]
    await runCommand(argv, { signal, deadlineMs: DEADLINE_MS })
  } finally {
    rmSync(early, { recursive: true, force: true })
  }
}

export interface DiskRequest {
  readonly file: string
  readonly gibibytes: number
  readonly label: string
  /** A folder that becomes its content. */
  readonly tree: string
  readonly signal: AbortSignal
}

/** A disk with a file system and files on it, without mounting anything. */
export async function makeDisk({ file, gibibytes, label, tree, signal }: DiskRequest): Promise<void> {
  await runCommand(['mkfs.ext4', '-q', '-F', '-L', label, '-d', tree, file, `${gibibytes}G`], { signal })
}

/** AppArmor itself stays; profiles of programs that are not there take a minute to load under emulation. */
function removeProfiles(tree: string): void {
  const folder = join(tree, 'etc/apparmor.d')
  for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()))
    rmSync(join(folder, name))
}

function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true, mode: path.startsWith('/root/') ? 0o700 : 0o755 })
    writeFileSync(file, content)
  }
}

function writeLink(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  symlinkSync(target, path)
}

function copy(tree: string, pattern: string, target: string): void {
  const [found] = globSync(pattern, { cwd: tree })
  if (found === undefined) throw new Error(`Cannot make a machine: its packages brought no "${pattern}"`)
  copyFileSync(join(tree, found), target)
}
