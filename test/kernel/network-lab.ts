import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../src/system/processes/run-process.ts'

const never = new AbortController().signal

// Answers on TCP and UDP, both families, with its name and who asked.
const SERVER = `
const net = require('node:net'), dgram = require('node:dgram')
const name = process.argv[1], plain = (a) => a.replace('::ffff:', '')
net.createServer((s) => s.on('data', () => s.write('still here')).on('error', () => {})).listen(8081, '::')
net.createServer((s) => s.end(name + ' ' + plain(s.remoteAddress))).listen(8080, '::', () => {
  const u = dgram.createSocket('udp6')
  u.on('message', (m, from) => u.send(name + ' ' + plain(from.address), from.port, from.address))
  u.bind(5353, '::', () => console.log('ready'))
})`
// A connection that stays; each line that it reads is a question.
const HOLDER = `
const s = require('node:net').connect(8081, process.argv[1], () => console.log('ready'))
s.on('data', (d) => console.log(String(d)))
process.stdin.on('data', () => s.write('?'))`
// One connection or packet; says what came of it.
const CLIENT = `
const [, protocol, address, port, from] = process.argv
const done = (text) => { console.log(text); process.exit(0) }
setTimeout(() => done('timeout'), 1200)
if (protocol === 'tcp') {
  let got = ''
  require('node:net').connect({ host: address, port: Number(port) })
    .on('data', (d) => { got += d }).on('end', () => done(got)).on('error', (e) => done(e.code))
} else {
  const u = require('node:dgram').createSocket(address.includes(':') ? 'udp6' : 'udp4')
  u.on('message', (m) => done(String(m))).on('error', (e) => done(e.code))
  u.bind(Number(from ?? 0), () => u.connect(Number(port), address, () => u.send('?')))
}`

// Many connections, some at a time; says how often each name answered, and what failed.
const MANY = `
const [, address, port, count] = process.argv, counts = {}
let left = Number(count), open = 0
const note = (text) => { counts[text] = (counts[text] ?? 0) + 1 }
const next = () => {
  while (left > 0 && open < 20) {
    left -= 1
    open += 1
    let got = ''
    const done = (text) => { note(text); open -= 1; next() }
    const s = require('node:net').connect({ host: address, port: Number(port) })
    s.setTimeout(10000, () => s.destroy(Object.assign(new Error(), { code: 'timeout' })))
    s.on('data', (d) => { got += d }).on('end', () => done(got.split(' ')[0])).on('error', (e) => done(e.code))
  }
  if (left === 0 && open === 0) console.log(JSON.stringify(counts))
}
next()`

/** A network of its own; gone with the test. */
export interface Host {
  readonly enter: readonly string[]
  run(...argv: readonly string[]): Promise<string>
  /** What came of one connection: an answer, an error code or "timeout". */
  connect(protocol: 'tcp' | 'udp', address: string, port: number, from?: number): Promise<string>
  /** How often which name answered, or what else came of that many connections over TCP. */
  many(address: string, port: number, count: number): Promise<Readonly<Record<string, number>>>
  serve(name: string): Promise<ChildProcess>
  /** A connection to what listens on port 8081 there, which stays. */
  hold(address: string): Promise<{ ask(): Promise<string> }>
}

async function createHost(t: TestContext): Promise<Host & { readonly pid: number }> {
  const script = 'ip link set lo up && echo ready && exec sleep 3600'
  const holder = spawn('/usr/bin/setpriv', ['--pdeathsig', 'KILL', 'unshare', '--net', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    holder.kill('SIGKILL')
    await once(holder, 'exit')
  })
  await once(holder.stdout, 'data')
  const pid = holder.pid ?? 0
  const enter = ['nsenter', '--target', String(pid), '--net', '--']
  const run = async (...argv: readonly string[]) =>
    (await runProcessOrThrow(systemClock, { argv: [...enter, ...argv], deadlineMs: 60_000 }, never)).stdout
  return {
    pid,
    enter,
    run,
    async connect(protocol, address, port, from) {
      const extra = from === undefined ? [] : [String(from)]
      return (await run(process.execPath, '-e', CLIENT, protocol, address, String(port), ...extra)).trim()
    },
    async many(address, port, count) {
      return JSON.parse(await run(process.execPath, '-e', MANY, address, String(port), String(count)))
    },
    async hold(address) {
      const argv = ['--pdeathsig', 'KILL', ...enter, process.execPath, '-e', HOLDER, address]
      const holding = spawn('/usr/bin/setpriv', argv, { stdio: ['pipe', 'pipe', 'inherit'] })
      t.after(() => holding.kill('SIGKILL'))
      const answer = async () => String((await once(holding.stdout, 'data'))[0]).trim()
      await answer()
      return {
        ask: async () => {
          holding.stdin.write('?')
          return await Promise.race([answer(), sleep(1500, 'timeout', { ref: false })])
        },
      }
    },
    async serve(name) {
      const argv = ['--pdeathsig', 'KILL', ...enter, process.execPath, '-e', SERVER, name]
      const server = spawn('/usr/bin/setpriv', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
      t.after(() => server.kill('SIGKILL'))
      await once(server.stdout, 'data')
      return server
    },
  }
}

/** A node with pods on a bridge, 10.123.0.2 and up, and a neighbour at 192.0.2.2 that knows only the node, 192.0.2.1. */
export async function createNetworkLab(t: TestContext, podNames: readonly string[]) {
  const node = await createHost(t)
  // Else nothing of IPv6 arrives while the addresses of links are looked for elsewhere, a second or two.
  await node.run('sysctl', '-q', '-w', 'net.ipv6.conf.default.accept_dad=0')
  await node.run('ip', 'link', 'add', 'br0', 'type', 'bridge')
  await node.run('ip', 'addr', 'add', '10.123.0.1/16', 'dev', 'br0')
  await node.run('ip', 'addr', 'add', 'fd00:123::1/64', 'dev', 'br0', 'nodad')
  await node.run('ip', 'link', 'set', 'br0', 'up')
  // As "up" does it: services have a route on the machine, so that the kernel has one before it translates.
  await node.run('ip', 'link', 'add', 'svc0', 'type', 'bridge')
  await node.run('ip', 'addr', 'add', '10.124.0.1/16', 'dev', 'svc0')
  await node.run('ip', 'addr', 'add', 'fd00:124::1/112', 'dev', 'svc0', 'nodad')
  await node.run('ip', 'link', 'set', 'svc0', 'up')
  for (const name of ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding'])
    await node.run('sysctl', '-q', '-w', `${name}=1`)
  const attach = async (host: Host & { readonly pid: number }, device: string, bridge?: string) => {
    await host.run('sysctl', '-q', '-w', 'net.ipv6.conf.default.accept_dad=0')
    await node.run('ip', 'link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(host.pid))
    if (bridge !== undefined) {
      await node.run('ip', 'link', 'set', device, 'master', bridge)
      await node.run('bridge', 'link', 'set', 'dev', device, 'hairpin', 'on')
    }
    await node.run('ip', 'link', 'set', device, 'up')
  }
  const pods: Host[] = []
  for (const [index, name] of podNames.entries()) {
    const pod = await createHost(t)
    await attach(pod, `veth${index}`, 'br0')
    await pod.run('ip', 'link', 'set', 'eth0', 'up')
    await pod.run('ip', 'addr', 'add', `10.123.0.${index + 2}/16`, 'dev', 'eth0')
    await pod.run('ip', 'addr', 'add', `fd00:123::${index + 2}/64`, 'dev', 'eth0', 'nodad')
    await pod.run('ip', 'route', 'add', 'default', 'via', '10.123.0.1')
    await pod.run('ip', '-6', 'route', 'add', 'default', 'via', 'fd00:123::1')
    await pod.serve(name)
    pods.push(pod)
  }
  const neighbour = await createHost(t)
  await attach(neighbour, 'out0')
  await node.run('ip', 'addr', 'add', '192.0.2.1/24', 'dev', 'out0')
  await neighbour.run('ip', 'link', 'set', 'eth0', 'up')
  await neighbour.run('ip', 'addr', 'add', '192.0.2.2/24', 'dev', 'eth0')
  await neighbour.run('ip', 'route', 'add', 'default', 'via', '192.0.2.1')
  await neighbour.serve('neighbour')
  return { node, pods, neighbour }
}
