import assert from 'node:assert/strict'
import { readFile, readlink, rename, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { notInCluster, StandaloneNode } from '../support/standalone-node.ts'
import { testPod } from '../support/test-pod.ts'

const DAY_MS = 24 * 3_600_000
const [TOKEN_ID, TOKEN_SECRET] = ['abcdef', '0123456789abcdef']

interface SigningRequests {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly username: string; readonly signerName: string }
    readonly status?: { readonly certificate?: string }
  }[]
}

/** A node that comes with nothing but a bootstrap token, and whose clock can be set. */
describe('a node that joins by a bootstrap token', () => {
  let node: StandaloneNode
  let folder = ''
  let early: Pod
  before(async () => {
    node = await StandaloneNode.start()
    folder = node.lab.folder
    await node.apply(testPod('early'))
    early = await node.ready('early')
  })
  after(async () => await node[Symbol.asyncDispose]())

  const current = async (kind: 'client' | 'server') =>
    await readlink(`${folder}/pki/kubelet-${kind}-current.pem`).catch(() => undefined)

  /** Sets the clock of the agent only. */
  const setClock = async (aheadMs: number) => {
    await writeFile(`${folder}/ahead.new`, String(aheadMs))
    await rename(`${folder}/ahead.new`, `${folder}/ahead`)
  }

  /** The identity of a node that exists is not had for a token alone: the request waits for an administrator. */
  const approve = async () => {
    const waiting = await node.waitFor('the request', async () => {
      const requests = await node.get<SigningRequests>('/apis/certificates.k8s.io/v1/certificatesigningrequests')
      const isWaiting = ({ spec, status }: SigningRequests['items'][number]) =>
        spec.username === `system:bootstrap:${TOKEN_ID}` && status?.certificate === undefined
      return requests?.items.find(isWaiting)?.metadata.name
    })
    if (notInCluster('the real API server says nothing about it') === false) {
      await node.waitFor('the API to report it', async () => {
        const log = await readFile(`${node.state}/logs/api.log`, 'utf8')
        return log.includes('a certificate request waits for an administrator') && log.includes(waiting)
      })
    }
    await node.kubectl('certificate', 'approve', waiting)
  }

  const runs = async (name: string) => {
    await node.apply(testPod(name))
    const pod = await node.ready(name)
    assert.match(await node.kubectl('logs', name), /^started /)
    assert.deepEqual((await node.ready('early')).status?.containerStatuses, early.status?.containerStatuses)
    return pod
  }

  test('that exists gets its certificates when an administrator has approved it, and runs pods', async () => {
    const stringData = {
      'token-id': TOKEN_ID,
      'token-secret': TOKEN_SECRET,
      'usage-bootstrap-authentication': 'true',
    }
    const metadata = { name: `bootstrap-token-${TOKEN_ID}`, namespace: 'kube-system' }
    await node.apply({ apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token', metadata, stringData })
    const ca = (await readFile(`${node.state}/api/pki/ca.crt`)).toString('base64')
    const kubeconfig = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { token: `${TOKEN_ID}.${TOKEN_SECRET}` } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    await writeFile(`${folder}/bootstrap.conf`, JSON.stringify(kubeconfig))
    await writeFile(`${folder}/clock.mjs`, settableClock(`${folder}/ahead`))
    const flags = [
      `--bootstrap-kubeconfig=${folder}/bootstrap.conf`,
      `--kubeconfig=${folder}/joined.conf`,
      `--cert-dir=${folder}/pki`,
    ]
    await node.changeAgent({ flags, module: `${folder}/clock.mjs` })
    await approve()
    await node.waitFor('both certificates', async () => (await current('client')) && (await current('server')))
    assert.ok((await readFile(`${folder}/joined.conf`, 'utf8')).includes(`${folder}/pki/kubelet-client-current.pem`))
    const { items } = (await node.get<SigningRequests>('/apis/certificates.k8s.io/v1/certificatesigningrequests'))!
    const bootstrapped = items.find(({ spec }) => spec.username === `system:bootstrap:${TOKEN_ID}`)
    assert.equal(bootstrapped?.spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet')
    await runs('joined')
  })

  test('whose clock is set far forward renews both, and goes on when it is set back', async () => {
    const [client, server] = [await current('client'), await current('server')]
    const { status } = await node.node()
    const pid = await node.agentPid()
    await setClock(340 * DAY_MS)
    await node.waitFor('other certificates', async () => {
      return (await current('client')) !== client && (await current('server')) !== server
    })
    await runs('ahead')
    await setClock(0)
    await runs('back')
    const conditions = (await node.node()).status?.conditions
    assert.deepEqual(
      conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
      status?.conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    )
    assert.equal(await node.agentPid(), pid)
  })

  test('whose certificate has ended by its own clock says so, and is back when the clock is right', async () => {
    const pid = await node.agentPid()
    await setClock(800 * DAY_MS)
    await approve()
    await node.waitFor('the agent to say so', async () =>
      (await node.agentLog()).join('\n').includes('is the clock right?'),
    )
    await setClock(0)
    await runs('again')
    assert.equal(await node.agentPid(), pid)
  })
})

/** A module after which the clock of a process is ahead by the milliseconds in a file. */
function settableClock(file: string): string {
  return `import { readFileSync } from 'node:fs'
const now = Date.now
const ahead = () => {
  try {
    return Number(readFileSync('${file}', 'utf8'))
  } catch {
    return 0
  }
}
Date.now = () => now() + ahead()
`
}
