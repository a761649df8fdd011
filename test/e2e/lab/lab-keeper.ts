/**
 * The process that owns a lab's namespaces, cgroup and folder. It makes them, says "ready <pid of the first process inside>" and
 * waits for the end of its standard input: when the test is done with the lab, or dead. Then it takes everything down.
 * The lab has a pid namespace, so killing its first process kills all others, whatever they forked or detached.
 * Usage: lab-keeper.ts FOLDER CGROUP
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../../src/system/processes/run-process.ts'
import { makeCgroup, removeCgroup } from '../../../src/system/cgroups/cgroup-tree.ts'
import { enterArguments } from './lab-namespaces.ts'
import { labOciRuntime } from './oci-runtime.ts'

const namespaces = ['--net', '--mount', '--pid', '--uts']
const [folder = '', cgroup = ''] = process.argv.slice(2)
if (!folder.includes('deckhand-lab-') || !cgroup.startsWith('/deckhand-lab-')) throw new Error('Not the names of a lab')

const asked = once(process.stdin.resume(), 'close')
await using cleanup = new AsyncDisposableStack()
cleanup.defer(() => rm(folder, { recursive: true, force: true }))
cleanup.defer(() => removeCgroup(systemClock, cgroup, new AbortController().signal))
makeCgroup(cgroup)
const pid = await startNamespaces(cleanup)
await furnish(pid)
process.stdout.write(`ready ${pid}\n`)
await asked

async function startNamespaces(stack: AsyncDisposableStack): Promise<number> {
  // Should this process be killed, the kernel kills unshare, and unshare's --kill-child the first process of the lab.
  const argv = ['--pdeathsig', 'KILL', 'unshare', ...namespaces, '--fork', '--kill-child', '--mount-proc']
  // Killed with its child, this unshare complains on stderr about something that does not matter.
  const unshare = spawn('/usr/bin/setpriv', [...argv, 'catatonit', '-P'], { stdio: 'ignore' })
  const exited = once(unshare, 'exit')
  for (let tries = 0; tries < 1000; tries += 1) {
    const children = await readFile(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').catch(() => '')
    const child = Number(children.trim())
    if (child > 0 && (await isPause(child))) {
      stack.defer(async () => {
        process.kill(child, 'SIGKILL')
        await exited
      })
      return child
    }
    await sleep(2)
  }
  throw new Error('Cannot make the namespaces of a lab: unshare has no child')
}

/** Until unshare's child became catatonit, its mounts are not all there. */
async function isPause(child: number): Promise<boolean> {
  return (await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '')).trim() === 'catatonit'
}

/** One shell does it all: a process for each of these takes longer than what it does. */
async function furnish(inside: number): Promise<void> {
  const settings = await coverKernelSettings()
  await writeFile(`${folder}/hosts`, '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 lab-machine\n')
  const script = [
    'set -e',
    'ip link set lo up',
    // The machine's own name may be none that a node can have; this one is found without asking a name server.
    'echo lab-machine > /proc/sys/kernel/hostname',
    `mount --bind '${folder}/hosts' /etc/hosts`,
    ...(labOciRuntime() === 'crun' ? hideUnifiedCgroup() : []),
    // As on a normal host, so that mount propagation into containers can be tested; the peers are this namespace's own.
    'mount --make-rshared /',
    // Names of pod networks, sockets of shims, locks of iptables: nothing of it on the host's.
    'mount -t tmpfs lab-run /run',
    // A /proc without the covers below: where none is whole, the kernel lets no pod with users of its own have one.
    'mkdir /run/lab-proc && mount -t proc lab-proc /run/lab-proc',
    // The network devices of the lab in place of the machine's; the rest of /sys stays, with the cgroups in it.
    'mkdir /run/lab-sys && mount -t sysfs lab-sys /run/lab-sys',
    ...['class/net', 'devices/virtual/net'].map((path) => `mount --bind /run/lab-sys/${path} /sys/${path}`),
    // Leases of pod addresses, and the links to the logs of containers.
    ...['/var/lib/cni', '/var/log/containers'].flatMap((path) => [`mkdir -p ${path}`, `mount -t tmpfs lab ${path}`]),
    ...settings,
  ]
  const request = { argv: [...enterArguments(inside), 'sh', '-c', script.join('\n')], deadlineMs: 30_000 }
  await runProcessOrThrow(systemClock, request, new AbortController().signal)
}

/** crun does not run beside a cgroup2 that has controllers, which a machine with cgroup v1 may have: the lab gets all but that one. */
function hideUnifiedCgroup(): readonly string[] {
  const place = '/sys/fs/cgroup'
  if (!existsSync(`${place}/unified/cgroup.controllers`)) return []
  const own = `'${folder}/cgroups'`
  return [
    `mkdir ${own}`,
    `mount -t tmpfs lab-cgroups ${own}`,
    `for each in ${place}/*; do`,
    '  name=${each##*/}',
    `  if [ -L "$each" ]; then cp -P "$each" ${own}; continue; fi`,
    '  [ "$name" = unified ] && continue',
    `  mkdir ${own}/"$name" && mount --bind "$each" ${own}/"$name"`,
    'done',
    `umount -R -l ${place}`,
    `mount --rbind ${own} ${place}`,
    `umount -R -l ${own}`,
  ]
}

/** An agent sets these, and the kernel has them once for all: in a lab they are files. */
async function coverKernelSettings(): Promise<readonly string[]> {
  const names = ['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops']
  const keys = ['kernel/keys/root_maxkeys', 'kernel/keys/root_maxbytes']
  const commands: string[] = []
  for (const name of [...names, ...keys].filter((each) => existsSync(`/proc/sys/${each}`))) {
    const file = `${folder}/sysctl-${name.replaceAll('/', '.')}`
    await writeFile(file, '0\n')
    commands.push(`mount --bind '${file}' /proc/sys/${name}`)
  }
  return commands
}
