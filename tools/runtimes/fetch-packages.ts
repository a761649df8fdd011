/** Debian packages of any release, unpacked into a folder: neither installed, nor known to the machine's own apt. */
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import type { PackageSource } from './package-source.ts'

export interface PackageRequest {
  readonly source: PackageSource
  /** The release of Debian to take them from, such as "trixie". */
  readonly suite: string
  /** Each comes with all that it depends on. */
  readonly packages: readonly string[]
  /** A new folder for what they contain. */
  readonly folder: string
  /** Room for lists and archives; removed at the end. */
  readonly scratch: string
}

/** One archive, as the signed list of its release describes it. */
export interface Archive {
  readonly name: string
  readonly sha256: string
}

// For the lists, or for all archives.
const DEADLINE_MS = 600_000
// What says how this machine reaches mirrors: proxies, time-outs, old lists that are good enough.
const KEPT_SETTINGS = /^Acquire::(https?|ftp|Retries|Check-Valid-Until|ForceIPv[46]|Max-ValidTime)\b/

/** Downloads and unpacks; apt checks the signature of the list, and the archives are compared with it. Fails with the reason. */
export function fetchPackages(request: PackageRequest): readonly Archive[] {
  const { folder, scratch, packages, suite } = request
  try {
    writeSettings(request)
    apt(request, ['update', '-q'], `Cannot read the list of packages of Debian "${suite}" at ${request.source.uri}`)
    const install = ['install', '-y', '-q', '--no-install-recommends', '--download-only']
    const what = `${packages.join(', ')} of Debian "${suite}"`
    const printed = apt(request, [...install, '--print-uris', ...packages], `Cannot find ${what}`)
    const archives = parseArchives(printed)
    if (archives.length === 0) throw new Error(`Cannot find ${what}: apt-get names no archive`)
    apt(request, [...install, ...packages], `Cannot download ${what}`)
    mkdirSync(folder, { recursive: true })
    for (const archive of archives) unpack(archive, request)
    return archives
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** From what "apt-get --print-uris" prints: 'URI' FILE SIZE HASH, one line for each. */
export function parseArchives(printed: string): readonly Archive[] {
  return [...printed.matchAll(/^'[^']+' (\S+\.deb) \d+ SHA256:([0-9a-f]{64})$/gm)].map(
    ([, name = '', sha256 = '']) => ({
      name,
      sha256,
    }),
  )
}

function writeSettings({ source, suite, scratch }: PackageRequest): void {
  for (const folder of ['lists/partial', 'archives/partial']) mkdirSync(`${scratch}/${folder}`, { recursive: true })
  writeFileSync(`${scratch}/status`, '')
  const signed = source.signedBy === undefined ? '' : `[signed-by=${source.signedBy}] `
  writeFileSync(`${scratch}/sources.list`, `deb ${signed}${source.uri} ${suite} main\n`)
  const { stdout } = spawnSync('apt-config', ['dump'], { encoding: 'utf8' })
  const kept = (stdout ?? '').split('\n').filter((line) => KEPT_SETTINGS.test(line))
  const settings = {
    // Nothing else of the machine's settings: they may have hooks.
    'Dir::Etc::parts': '/dev/null',
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::sourcelist': `${scratch}/sources.list`,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State': scratch,
    'Dir::State::lists': `${scratch}/lists`,
    // No package is there yet, so all that they depend on comes with them.
    'Dir::State::status': `${scratch}/status`,
    'Dir::Cache': scratch,
    'Dir::Cache::archives': `${scratch}/archives`,
    'Acquire::Languages': 'none',
    // A machine without a network finds out soon.
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '15',
    'Acquire::https::Timeout': '15',
    'Acquire::ForceHash': 'sha256',
    'APT::Sandbox::User': 'root',
  }
  const lines = Object.entries(settings).map(([key, value]) => `${key} "${value}";`)
  writeFileSync(`${scratch}/apt.conf`, `${[...kept, ...lines].join('\n')}\n`)
}

function apt({ scratch }: PackageRequest, argv: readonly string[], failure: string): string {
  const env = { ...process.env, APT_CONFIG: `${scratch}/apt.conf`, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }
  const result = spawnSync('apt-get', argv, {
    env,
    encoding: 'utf8',
    timeout: DEADLINE_MS,
    maxBuffer: 64 * 1024 * 1024,
  })
  // apt-get reports lists that it could not get as warnings, and succeeds.
  const trouble = result.stderr?.split('\n').filter((line) => /^(E|Err|W: Failed to fetch)\b/.test(line)) ?? []
  if (result.error === undefined && result.status === 0 && trouble.length === 0) return result.stdout
  const reason = trouble.join(' ') || (result.error?.message ?? result.stderr.trim())
  throw new Error(`${failure}: ${reason}`)
}

function unpack({ name, sha256 }: Archive, { folder, scratch }: PackageRequest): void {
  const file = `${scratch}/archives/${name}`
  const found = createHash('sha256').update(readFileSync(file)).digest('hex')
  if (found !== sha256) throw new Error(`Cannot use "${name}": its checksum is ${found}, expected ${sha256}`)
  const { status, stderr } = spawnSync('dpkg-deb', ['-x', file, folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`Cannot unpack "${name}": ${stderr.trim()}`)
}
