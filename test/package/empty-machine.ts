import assert from 'node:assert/strict'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { EmptyRoot } from '../../tools/package/debian/empty-root.ts'
import { systemClock } from '../../src/base/async/clock.ts'
import { runProcess } from '../../src/system/processes/run-process.ts'
import type { ProcessResult } from '../../src/system/processes/run-process.ts'
import { childPid, enterArguments } from '../e2e/lab/lab-namespaces.ts'
import type { Lab } from '../e2e/lab/start-lab.ts'
import { waitFor } from '../e2e/support/wait-for.ts'

// What the packages depend on and recommend, and the shell and the tools that every Debian has.
const programs = `containerd containerd-shim-runc-v2 ctr runc busybox catatonit
  ip iptables iptables-save iptables-restore ip6tables nft conntrack
  mount umount cat chroot env mkdir nsenter prlimit`.split(/\s+/)
const plugins = ['bridge', 'firewall', 'host-local', 'loopback', 'portmap'].map((name) => `/usr/lib/cni/${name}`)
const never = new AbortController().signal
const PATH = 'PATH=/usr/sbin:/usr/bin:/sbin:/bin'
const PATIENCE_MS = 120_000

/** An empty root with all that a node is made of besides our programs: copies of this machine's. */
export function furnishRoot(path: string): EmptyRoot {
  const root = new EmptyRoot(path)
  for (const name of programs) root.copyProgram(name)
  for (const file of plugins) {
    root.put(file, readFileSync(file), 0o755)
    root.copyLibraries(file)
  }
  // iptables loads these by itself.
  for (const file of globSync('/usr/lib/*/xtables/*.so')) root.put(file, readFileSync(file))
  for (const folder of ['sys', 'etc', 'var/log', 'usr/share']) mkdirSync(join(path, folder), { recursive: true })
  root.put('/etc/os-release', 'ID=debian\nVERSION_ID=12\nPRETTY_NAME="Empty"\n')
  root.put('/etc/resolv.conf', 'nameserver 127.0.0.1\n')
  root.put('/etc/hosts', '127.0.0.1 localhost\n')
  root.put('/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n')
  root.put('/etc/group', 'root:x:0:\n')
  return root
}

/** A machine in a lab whose root is a folder with nothing of Node, npm or this machine in it. */
export class EmptyMachine {
  readonly root: EmptyRoot
  readonly #lab: Lab
  readonly #enter: readonly string[]

  private constructor(root: EmptyRoot, lab: Lab, pid: number) {
    this.root = root
    this.#lab = lab
    this.#enter = enterArguments(pid).slice(0, -1)
  }

  static async start(lab: Lab, root: EmptyRoot): Promise<EmptyMachine> {
    const script = [
      'set -e',
      'ip link set lo up',
      `mount --bind '${root.path}' '${root.path}'`,
      ...['proc', 'sys', 'dev'].map((name) => `mount --rbind /${name} '${join(root.path, name)}'`),
      `mount -t tmpfs machine-run '${join(root.path, 'run')}'`,
      `mkdir -p '${join(root.path, 'run/systemd/system')}'`,
      `mount --make-rshared '${root.path}'`,
      `exec chroot '${root.path}' /usr/bin/catatonit -P`,
    ]
    // What containers are made with cannot change its root where that of the machine is shared with others.
    const argv = ['unshare', '--mount', '--net', '--propagation', 'private', 'sh', '-c', script.join('\n')]
    const started = await lab.startInside(argv, join(lab.folder, `${basename(root.path)}.log`))
    const pid = await waitFor('the machine', async () => {
      const found = await childPid(started.pid)
      return found !== undefined && readFileSync(`/proc/${found}/comm`, 'utf8').trim() === 'catatonit' && found
    })
    return new EmptyMachine(root, lab, pid)
  }

  /** Runs a program of the machine to its end, whatever its exit code. */
  async run(...argv: readonly string[]): Promise<ProcessResult> {
    return await this.#run(['--root', '--wd', '--', 'env', '-i', PATH, ...argv])
  }

  /** With the dpkg of this machine, whose scripts run in the root and the namespaces of that one. */
  async dpkg(...args: readonly string[]): Promise<ProcessResult> {
    // Packages that ours depend on are there as files only.
    const force = ['--force-depends', '--force-bad-path', '--no-triggers']
    return await this.#run([
      '--',
      'env',
      '-i',
      PATH,
      ...args.filter(isSetting),
      'dpkg',
      `--root=${this.root.path}`,
      ...force,
      ...args.filter((each) => !isSetting(each)),
    ])
  }

  async #run(argv: readonly string[]): Promise<ProcessResult> {
    return await runProcess(systemClock, { argv: [...this.#enter, ...argv], deadlineMs: 2 * PATIENCE_MS }, never)
  }

  /** Starts a node with this program, which runs a pod of its own; returns when that is ready. */
  async runNode(deckhand: string): Promise<void> {
    const cgroup = `${this.#lab.cgroupRoot}/machine`
    const up = await this.run(
      deckhand,
      'up',
      `--wait=${PATIENCE_MS / 1000}s`,
      '--page-port',
      '0',
      '--cgroup-root',
      cgroup,
    )
    const { stdout } = await this.run(deckhand, 'status')
    assert.match(stdout, /^default\/example-\S+ +yes +Running/m, `${up.stdout}${up.stderr}${stdout}`)
    // As people and checkers find the agent, with its arguments.
    const { stdout: agents } = await this.#run(['--', 'ps', '-fC', 'kubelet'])
    assert.match(agents, / --root-dir[= ]\/var\/lib\/deckhand\//)
  }

  /** Ends the node with its pod. */
  async endNode(deckhand: string): Promise<void> {
    const { exitCode, stderr } = await this.run(deckhand, 'down', '--purge')
    assert.equal(exitCode, 0, stderr)
    await this.hasNoNode()
  }

  /** No runtime and no pod of it run any more. */
  async hasNoNode(): Promise<void> {
    for (const name of ['containerd', 'containerd-shim', 'httpd', 'kubelet'])
      assert.equal((await this.run('busybox', 'pgrep', '-l', name)).stdout, '')
  }
}

function isSetting(text: string): boolean {
  return /^[A-Z_]+=/.test(text)
}
