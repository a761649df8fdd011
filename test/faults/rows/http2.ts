import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { StandaloneNode } from '../../e2e/support/standalone-node.ts'
import { waitFor } from '../../e2e/support/wait-for.ts'
import { testPod } from '../../e2e/support/test-pod.ts'
import { selfSigned } from '../../fixtures/self-signed.ts'
import type { Invariant, MadeFault } from '../fault-row.ts'

const program = fileURLToPath(new URL('../frame-proxy.ts', import.meta.url))
const PORT = 7443
const ALL: readonly Invariant[] = ['once', 'kept', 'steady', 'lives', 'status']
const ROUNDS = 3
const STALL_MS = 8000

/** A node whose agent reaches its API through a proxy of frames. */
export class FramedNode implements AsyncDisposable {
  readonly node: StandaloneNode
  readonly #faultFile: string
  readonly #steady: Pod
  readonly #agentPid: number

  private constructor(node: StandaloneNode, faultFile: string, steady: Pod, agentPid: number) {
    this.node = node
    this.#faultFile = faultFile
    this.#steady = steady
    this.#agentPid = agentPid
  }

  static async start(): Promise<FramedNode> {
    await using cleanup = new AsyncDisposableStack()
    const node = cleanup.use(await StandaloneNode.start())
    const { folder } = node.lab
    const faultFile = `${folder}/fault`
    await writeFile(faultFile, 'none')
    const log = `${folder}/frames.log`
    await node.lab.startInside(
      [process.execPath, program, `${node.state}/kubelet.kubeconfig`, String(PORT), faultFile],
      log,
    )
    const authority = Buffer.from(selfSigned.cert).toString('base64')
    const cluster = { server: `https://127.0.0.1:${PORT}`, 'tls-server-name': 'nobody.test' }
    const kubeconfig = {
      clusters: [{ name: 'c', cluster: { ...cluster, 'certificate-authority-data': authority } }],
      users: [{ name: 'u', user: { token: 'the proxy has a certificate' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    await writeFile(`${folder}/framed.conf`, JSON.stringify(kubeconfig))
    await node.apply(testPod('steady'))
    await node.ready('steady')
    await node.changeAgent({ flags: [`--kubeconfig=${folder}/framed.conf`, `--cert-dir=${folder}/framed`] })
    // A pod that comes shows that the agent is connected through the proxy.
    await node.apply(testPod('first'))
    await node.ready('first')
    await node.kubectl('delete', 'pod', 'first')
    const steady = await node.ready('steady')
    const framed = new FramedNode(node, faultFile, steady, await node.agentPid())
    cleanup.move()
    return framed
  }

  async set(fault: string): Promise<void> {
    await writeFile(this.#faultFile, fault)
    // The proxy hears of it.
    await sleep(200)
  }

  /** A pod comes and goes: what the API wants reaches the agent, and what the agent says the API. */
  async liveOn(name: string): Promise<void> {
    await this.node.apply(testPod(name))
    const { status } = await this.node.ready(name)
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0)
    await this.node.kubectl('delete', 'pod', name, '--wait=false')
    await waitFor(
      `"${name}" to go`,
      async () => (await this.node.get(`/api/v1/namespaces/default/pods/${name}`)) === undefined,
    )
  }

  async verify(): Promise<void> {
    const { status } = await this.node.ready('steady')
    assert.deepEqual(status?.containerStatuses, this.#steady.status?.containerStatuses)
    assert.equal(await this.node.agentPid(), this.#agentPid, 'the agent was started again')
    assert.equal((await this.node.running(this.#steady.metadata.uid)).length, 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]()
  }
}

/** The fault comes again and again while pods come and go. */
async function throughPods(ground: FramedNode, fault: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await ground.set(fault)
    await ground.liveOn(`${fault}-${round}`)
    await ground.set('none')
  }
  await ground.liveOn(`after-${fault}`)
  await ground.verify()
}

export const http2Rows: readonly MadeFault<FramedNode>[] = [
  {
    name: 'h2-goaway',
    fault: 'the API leaves its connections and has done nothing of what was asked last',
    injection: 'a proxy sends GOAWAY with stream 0 and closes, on every connection',
    invariants: ALL,
    quick: false,
    run: async (ground) => await throughPods(ground, 'goaway'),
  },
  {
    name: 'h2-reset',
    fault: 'the API breaks single answers and watches off',
    injection: 'a proxy sends RST_STREAM in place of data, on every connection',
    invariants: ALL,
    quick: false,
    run: async (ground) => await throughPods(ground, 'reset'),
  },
  {
    name: 'h2-truncated',
    fault: 'connections to the API end in the middle of a frame',
    injection: 'a proxy passes on half of a frame of data and closes, on every connection',
    invariants: ALL,
    quick: false,
    run: async (ground) => await throughPods(ground, 'truncated'),
  },
  {
    name: 'h2-stalled',
    fault: 'answers and watches of the API stand still while its connections live',
    injection: `a proxy holds all data for ${STALL_MS / 1000} s, pings are answered`,
    invariants: ALL,
    quick: false,
    async run(ground) {
      await ground.set('stalled')
      await ground.node.apply(testPod('meanwhile'))
      await sleep(STALL_MS)
      await ground.set('none')
      await ground.node.ready('meanwhile')
      await ground.node.kubectl('delete', 'pod', 'meanwhile', '--wait=false')
      await ground.liveOn('after-stalled')
      await ground.verify()
    },
  },
  {
    name: 'h2-half-open',
    fault: 'connections to the API are dead and neither side hears of it',
    injection: 'a proxy swallows everything on the connections that there are; new ones work',
    invariants: ALL,
    quick: false,
    async run(ground) {
      await ground.set('half-open')
      await ground.liveOn('half-open')
      await ground.set('none')
      await ground.liveOn('after-half-open')
      await ground.verify()
    },
  },
]
