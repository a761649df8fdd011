import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import process from 'node:process'
import { fetchPackages } from './fetch-packages.ts'
import { readCodename, readPackageSource } from './package-source.ts'

/** A containerd of one release of Debian, with the programs that belong to it. */
export interface RuntimeRelease {
  readonly name: string
  readonly suite: string
}

/** What there is to test with, oldest first. */
export const runtimeReleases: readonly RuntimeRelease[] = [
  { name: 'containerd-1.6', suite: 'bookworm' },
  { name: 'containerd-1.7', suite: 'trixie' },
  { name: 'containerd-2', suite: 'forky' },
]

export const NEWEST_RELEASE = 'containerd-2'

export const ociRuntimes = ['runc', 'crun'] as const
export type OciRuntime = (typeof ociRuntimes)[number]

// Those that the machine's own release has installed already are not fetched.
const packages = ['containerd', 'runc'] as const
// criu is no part of Debian 12.
const extraPackages: Readonly<Record<string, readonly string[]>> = {
  bookworm: ['crun', 'patchelf'],
}
const usualExtras = ['crun', 'criu', 'libcriu2', 'patchelf']
// These need a newer C library than the machine may have, so they get their own.
const relinked = ['runc', 'crun', 'criu']
const programs = ['containerd', 'containerd-shim-runc-v2', 'ctr', ...relinked]
// What is in the cache was made in this way; another number for another way.
const FORM = 2

/** Where fetched releases are kept, for all checkouts of this user. */
export function cacheFolder(): string {
  return process.env['DECKHAND_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'deckhand')
}

/** The folder with the programs of a release, to be put in front of PATH. Fetched when it is not there yet; fails with what could not be had. */
export function openRelease({ suite }: RuntimeRelease, say: (text: string) => void): string {
  const folder = join(cacheFolder(), `runtimes-${FORM}`, `${suite}-${process.arch}`)
  if (!existsSync(folder)) fetchRelease(suite, folder, say)
  return join(folder, 'programs')
}

function fetchRelease(suite: string, folder: string, say: (text: string) => void): void {
  const own = readCodename()
  const source = readPackageSource(own)
  if (source === undefined)
    throw new Error('Cannot fetch packages: /etc/apt names no source of the Debian release that this machine runs')
  const wanted = [...(suite === own ? [] : packages), ...(extraPackages[suite] ?? usualExtras)]
  say(`fetching ${wanted.join(', ')} of Debian "${suite}" from ${source.uri}\n`)
  // Beside its place until it is whole.
  const draft = `${folder}.${process.pid}`
  try {
    const archives = fetchPackages({
      source,
      suite,
      packages: wanted,
      folder: join(draft, 'root'),
      scratch: `${draft}.apt`,
    })
    mkdirSync(join(draft, 'programs'))
    for (const name of programs) addProgram(name, { draft, folder })
    writeFileSync(join(draft, 'packages.json'), `${JSON.stringify(archives, undefined, 2)}\n`)
    rmSync(folder, { recursive: true, force: true })
    renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** A link to the program; one that needs its own libraries is first made to find them. */
function addProgram(name: string, { draft, folder }: { readonly draft: string; readonly folder: string }): void {
  const [path] = globSync(`usr/{bin,sbin}/${name}`, { cwd: join(draft, 'root') })
  if (path === undefined) return
  if (relinked.includes(name)) relink(path, { draft, folder })
  symlinkSync(join(folder, 'root', path), join(draft, 'programs', name))
}

/** Writes the loader and the libraries that were fetched with a program into it, by the paths that they will have. */
function relink(path: string, { draft, folder }: { readonly draft: string; readonly folder: string }): void {
  const [loader] = globSync('{usr/,}lib*/{,*/}ld-linux*.so.*', { cwd: join(draft, 'root') })
  const [libraries] = globSync('{usr/,}lib/*/libc.so.6', { cwd: join(draft, 'root') })
  if (loader === undefined || libraries === undefined)
    throw new Error(`Cannot use "${basename(path)}": no C library came with it`)
  const libraryFolders = [...new Set(globSync('{usr/,}lib/*-linux-gnu', { cwd: join(draft, 'root') }))]
  const inDraft = libraryFolders.map((each) => join(draft, 'root', each)).join(':')
  const later = libraryFolders.map((each) => join(folder, 'root', each)).join(':')
  // Not by our own loader: patchelf is of that release too.
  const argv = ['--library-path', inDraft, join(draft, 'root/usr/bin/patchelf')]
  const change = ['--set-interpreter', join(folder, 'root', loader), '--set-rpath', later, '--force-rpath']
  const { status, stderr } = spawnSync(join(draft, 'root', loader), [...argv, ...change, join(draft, 'root', path)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`Cannot prepare "${basename(path)}": ${stderr.trim()}`)
}

/** Names and versions of what was fetched for a release, for the table in the docs; none of what the machine itself has. */
export function describeRelease(programsFolder: string): readonly string[] {
  const archives = JSON.parse(readFileSync(join(programsFolder, '../packages.json'), 'utf8')) as { name: string }[]
  return archives.flatMap(({ name }) => {
    const [, found, version = ''] = /^(containerd|runc|crun|criu)_([^_]+)_/.exec(name) ?? []
    return found === undefined ? [] : [`${found} ${decodeURIComponent(version)}`]
  })
}
