import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import { WorkloadNode } from './workload-node.ts'

const FIRST = '10.99.0.1'
const SECOND = '10.99.0.2'
const SIXTH = 'fd99::1'
const CLOSED = [
  '/',
  '/api',
  '/apis',
  '/api/v1/pods',
  '/openapi/v3',
  '/metrics',
  '/configz',
  '/stats/summary',
  '/run/a/b/c',
  '/healthz',
  '/version',
]
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'said' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'main',
        image: 'deckhand.local/busybox:1',
        imagePullPolicy: 'Never',
        command: ['sh', '-c', 'echo hello; exec sleep 1000'],
      },
    ],
  },
}

describe('deckhand up --address', () => {
  let lab: Lab
  let node: WorkloadNode
  const upOn = (...addresses: readonly string[]) => {
    const flags = addresses.length === 0 ? [] : ['--address', addresses.join(',')]
    return node.up('--runtime', lab.runtime.endpoint, ...flags)
  }
  before(async () => {
    lab = await startLab()
    node = new WorkloadNode(lab)
    for (const command of [
      'ip link add node0 type veth peer name node1',
      `ip addr add ${FIRST}/24 dev node0`,
      `ip addr add ${SECOND}/24 dev node0`,
      'ip link set node0 up',
      'ip link set node1 up',
    ])
      assert.equal((await lab.runInside(command.split(' '))).exitCode, 0, command)
    // A kernel without IPv6 takes no such address.
    await lab.runInside(['ip', 'addr', 'add', `${SIXTH}/64`, 'dev', 'node0', 'nodad'])
  })
  after(async () => await lab[Symbol.asyncDispose]())

  test('refuses an address that is not one of the machine, and leaves nothing behind', async () => {
    for (const [address, message] of [
      [
        '10.99.0.77',
        /Cannot use "10\.99\.0\.77" as the address of the node: expected one that an interface of this machine has/,
      ],
      [
        '127.0.0.1',
        /Cannot use "127\.0\.0\.1" as the address of the node: expected one that is not a loopback address/,
      ],
    ] as const) {
      const { exitCode, stderr } = await node.deckhand('up', '--runtime', lab.runtime.endpoint, '--address', address)
      assert.equal(exitCode, 4)
      assert.match(stderr, message)
      assert.notEqual((await lab.runInside(['test', '-e', `${lab.folder}/state`])).exitCode, 0)
    }
  })

  test('serves API and agent there, to those with a credential alone', async (t) => {
    const hasSixth = (await lab.runInside(['ip', 'addr', 'show', 'dev', 'node0'])).stdout.includes(SIXTH)
    await upOn(FIRST, ...(hasSixth ? [SIXTH] : []))
    const pod = await node.write('pod.json', JSON.stringify(POD))
    const { stdout, exitCode } = await node.deckhand('kubeconfig')
    assert.equal(exitCode, 0)
    assert.match(stdout, /server: https:\/\/10\.99\.0\.1:6443\n/)
    const remote = `--kubeconfig=${await node.write('remote.kubeconfig', stdout)}`
    await node.kubectl(remote, 'apply', '-f', pod)
    await node.kubectl(remote, 'wait', '--for=condition=Ready', 'pod/said', '--timeout=25s')
    // Through the API to the agent, which is there too.
    assert.equal(await node.kubectl(remote, 'logs', 'said'), 'hello\n')
    assert.equal(await node.kubectl('get', 'pod', 'said', '-o', 'jsonpath={.status.hostIP}'), FIRST)
    for (const [host, port] of [
      [FIRST, 6443],
      ['127.0.0.1', 6443],
      [FIRST, 10_250],
    ] as const) {
      for (const path of CLOSED)
        assert.deepEqual([host, port, path, await ask(host, port, path)], [host, port, path, 401])
      assert.equal(await ask(host, port, '/api/v1/pods', 'Bearer of.no.use'), 401)
    }
    const token = await node.kubectl(
      'create',
      '--raw',
      '/api/v1/namespaces/default/serviceaccounts/default/token',
      '-f',
      await node.write('t.json', '{"spec":{}}'),
    )
    const bearer = `Bearer ${(JSON.parse(token) as { status: { token: string } }).status.token}`
    // Known, and without rights.
    assert.equal(await ask(FIRST, 6443, '/api/v1/pods', bearer), 403)
    assert.equal(await ask(FIRST, 10_250, '/pods', bearer), 403)
    const { stdout: status } = await node.deckhand('status')
    const urls = ['127.0.0.1', FIRST, ...(hasSixth ? [`[${SIXTH}]`] : [])].map((host) => `https://${host}:6443`)
    const served = [...urls, `https://${FIRST}:10250 (agent)`].join(', ')
    assert.ok(status.split('\n').includes(`served at  ${served}`), status)
    if (!hasSixth) return t.diagnostic('this kernel has no IPv6')
    const { stdout: sixth } = await node.deckhand('kubeconfig', '--address', SIXTH)
    const other = `--kubeconfig=${await node.write('sixth.kubeconfig', sixth)}`
    assert.equal(await node.kubectl(other, 'get', 'namespace', 'default', '-o', 'name'), 'namespace/default\n')
  })

  test('has certificates for another address when that changes, and none without', async () => {
    await node.down()
    await upOn(SECOND)
    for (const port of [6443, 10_250]) await certified(SECOND, port)
    await assert.rejects(ask(FIRST, 6443, '/healthz'))
    const { exitCode, stderr } = await node.deckhand('kubeconfig', '--address', FIRST)
    assert.equal(exitCode, 2)
    assert.match(stderr, /Cannot use --address "10\.99\.0\.1": the node is served on 10\.99\.0\.2/)
    await node.down()
    await upOn()
    await assert.rejects(ask(SECOND, 6443, '/healthz'))
    await assert.rejects(ask(SECOND, 10_250, '/healthz'))
    assert.match((await node.deckhand('kubeconfig')).stderr, /start it with "up --address"/)
    await node.down()
  })

  /** The status of an answer; the server has to prove that it is at this address. */
  async function ask(host: string, port: number, path: string, authorization?: string): Promise<number | undefined> {
    const ca = await readFile(`${lab.folder}/state/api/pki/ca.crt`, 'utf8')
    const agent = new Agent()
    agent.createConnection = () => connect({ socket: lab.network.connect(host, port), host, ca })
    const asked = request({ host, port, path, agent, headers: authorization === undefined ? {} : { authorization } })
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    await text(response)
    agent.destroy()
    return response.statusCode
  }

  /** The agent asks for its certificate when the API knows the address of the node. */
  async function certified(host: string, port: number): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const status = await ask(host, port, '/healthz').catch((error: unknown) => String(error))
      if (typeof status === 'number') return
      assert.ok(tries < 100, String(status))
      await sleep(100)
    }
  }
})
