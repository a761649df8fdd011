import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

// What the scripts of packages call, besides what is recorded.
const programs = ['sh', 'find', 'grep', 'ls', 'rm']
// As Debian has them, links to those below /usr.
const merged = ['bin', 'lib', 'lib64', 'sbin']
const SEARCHED = `${process.env['PATH']}:/usr/sbin:/sbin`
const recorded = ['deb-systemd-helper', 'deb-systemd-invoke', 'systemctl']
const RECORD = '#!/bin/sh\necho "${0##*/} $*" >> /calls\n'
// The first of them remembers which units it was called for: "debian-installed" asks for that.
const REMEMBER =
  'case $1 in enable | update-state) : > /state-of-$2 ;; purge) rm -f /state-of-$2 ;; debian-installed) [ -e /state-of-$2 ] ;; esac\n'

/** A folder that packages are installed into and that is the root of what runs there: a shell, and nothing of Node, npm or this machine. For tests. */
export class EmptyRoot {
  readonly path: string

  constructor(path: string) {
    this.path = path
    for (const folder of [
      'dev',
      'proc',
      'run/systemd/system',
      'tmp',
      ...merged.map((name) => join('usr', name)),
      'var/lib/dpkg/info',
    ])
      mkdirSync(join(path, folder), { recursive: true })
    for (const name of merged) symlinkSync(join('usr', name), join(path, name))
    for (const file of ['status', 'available']) writeFileSync(join(path, 'var/lib/dpkg', file), '')
    for (const name of programs) this.copyProgram(name)
    for (const name of recorded)
      this.put(`/usr/bin/${name}`, name === 'deb-systemd-helper' ? RECORD + REMEMBER : RECORD, 0o755)
  }

  put(path: string, content: string | Uint8Array, mode = 0o644): void {
    writeFileSync(join(this.path, this.#folder(path)), content)
    chmodSync(join(this.path, path), mode)
  }

  /** A program of this machine, with the shared libraries that it needs. */
  copyProgram(name: string): void {
    const env = { PATH: SEARCHED }
    const [found = ''] = execFileSync('/usr/bin/which', [name], { encoding: 'utf8', env }).split('\n')
    this.put(join('/usr/bin', name), readFileSync(found), 0o755)
    this.copyLibraries(found)
  }

  exists(path: string): boolean {
    return existsSync(join(this.path, path))
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), 'utf8')
  }

  /** The shared libraries that a program needs, by the paths that they have here. */
  copyLibraries(program: string): void {
    // It fails for a program that needs none.
    for (const [path] of spawnSync('ldd', [program], { encoding: 'utf8' }).stdout.matchAll(/\/\S+/g))
      if (path !== program && !this.exists(path)) copyFileSync(path, join(this.path, this.#folder(path)))
  }

  run(args: readonly string[], input = '') {
    return spawnSync('unshare', ['--user', '--map-root-user', '--root', this.path, '--', ...args], {
      encoding: 'utf8',
      input,
      env: { PATH: '/usr/bin:/bin' },
    })
  }

  /** dpkg with these arguments; returns what the scripts of the packages called. */
  dpkg(args: readonly string[], environment: Readonly<Record<string, string>> = {}): readonly string[] {
    rmSync(join(this.path, 'calls'), { force: true })
    // What they depend on is not here; the paths of programs are this machine's.
    const force = ['--force-depends', '--force-confold', '--force-bad-path', '--no-triggers', '--force-architecture']
    const argv = ['--user', '--map-root-user', 'dpkg', `--root=${this.path}`, ...force, ...args]
    const { status, stdout, stderr } = spawnSync('unshare', argv, {
      encoding: 'utf8',
      env: { PATH: SEARCHED, ...environment },
    })
    if (status !== 0) throw new Error(`dpkg ${args.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`)
    return this.exists('calls') ? this.read('calls').trimEnd().split('\n') : []
  }

  #folder(path: string): string {
    mkdirSync(dirname(join(this.path, path)), { recursive: true })
    return path
  }
}
