import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import type { PeerCertificate } from 'node:tls'
import { notInCluster, StandaloneNode } from '../support/standalone-node.ts'
import { testPod } from '../support/test-pod.ts'

interface Lease {
  readonly spec: { readonly holderIdentity: string; readonly leaseDurationSeconds: number; readonly renewTime: string }
}

describe('the node of a machine that is on no network', () => {
  let node: StandaloneNode
  let name = ''
  let firstLease: Lease | undefined
  before(async () => {
    node = await StandaloneNode.start()
    name = (await node.node()).metadata?.name ?? ''
    firstLease = await node.waitFor('the lease', async () => await readLease())
  })
  after(async () => await node[Symbol.asyncDispose]())

  const readLease = async () =>
    await node.get<Lease>(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`)

  /** The only address that a machine on no network has: a standalone node has that of its API. */
  const serviceAddress = async () =>
    notInCluster('the address of its API is on no device of this machine') === false
      ? [await node.kubectl('get', 'service', 'kubernetes', '--output', 'jsonpath={.spec.clusterIP}')]
      : []

  test('is ready, and reports what it has', async () => {
    const { metadata, status } = await node.waitFor('the node to be ready', async () => {
      const found = await node.node()
      return found.status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') && found
    })
    const internal = (await serviceAddress()).map((address) => ({ type: 'InternalIP', address }))
    assert.deepEqual(status?.addresses, [...internal, { type: 'Hostname', address: name }])
    assert.equal(metadata?.labels?.['kubernetes.io/hostname'], name)
    const { capacity = {}, allocatable = {}, nodeInfo } = status ?? {}
    for (const resource of ['cpu', 'memory', 'pods', 'ephemeral-storage']) {
      assert.match(String(capacity[resource]), /^[1-9]/)
      assert.match(String(allocatable[resource]), /^[1-9]/)
    }
    const { name: runtime } = node.lab.runtime
    const program = runtime === 'docker' ? 'dockerd' : runtime
    const [, , version] = (await node.lab.runInside([program, '--version'])).stdout.split(/,? /)
    // As upstream reads it: what is no part of a version, such as Debian's mark of an older release, is left out.
    assert.equal(nodeInfo?.containerRuntimeVersion, `${runtime}://${version?.replace(/~.*/, '')}`)
    assert.equal(status?.daemonEndpoints?.kubeletEndpoint?.Port, 10_250)
    assert.ok(status?.images?.some(({ names }) => names?.includes('deckhand.local/busybox:1')))
    const pressures = status?.conditions?.filter(({ type }) => type !== 'Ready').map(({ status: value }) => value)
    assert.deepEqual(pressures, ['False', 'False', 'False'])
  })

  test('reports its events', async () => {
    await node.waitFor('the events of the node', async () => {
      const text = await node.kubectl('get', 'events', '--field-selector', `involvedObject.kind=Node`)
      return ['Starting', 'NodeHasSufficientMemory'].every((reason) => text.includes(reason))
    })
  })

  test('serves its API with a certificate of the cluster, to authorized clients', async () => {
    const ca = await readFile(`${node.state}/api/pki/ca.crt`, 'utf8')
    const { answer, certificate } = await node.waitFor('a serving certificate', () => ask(node, { ca, name }))
    assert.match(answer, /^HTTP\/1\.1 401 /)
    const addresses = (await serviceAddress()).map((address) => `, IP Address:${address}`)
    assert.equal(certificate.subjectaltname, `DNS:${name}${addresses.join('')}`)
    assert.equal(certificate.subject.CN, `system:node:${name}`)
    const requests = await node.kubectl('get', 'csr', '--no-headers')
    for (const signer of ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet']) {
      assert.match(requests, new RegExp(`${signer} .*Approved,Issued`))
    }
  })

  test('runs pods, and gives their logs and a way into them', async () => {
    await node.apply(testPod('web'))
    await node.ready('web')
    assert.match(await node.kubectl('logs', 'web'), /^started /)
    assert.match(await node.kubectl('describe', 'pod', 'web'), /Normal +Started +\S+ +kubelet/)
    assert.equal(await node.kubectl('exec', 'web', '--', 'echo', 'inside'), 'inside\n')
    if (notInCluster('the real API server is no proxy to loopback') === false) {
      assert.equal(await node.kubectl('get', '--raw', `/api/v1/nodes/${name}/proxy/healthz`), 'ok')
    }
  })

  test('keeps its lease', async () => {
    const { holderIdentity, leaseDurationSeconds, renewTime } = firstLease!.spec
    assert.deepEqual([holderIdentity, leaseDurationSeconds], [name, 40])
    // It would also come without this, some seconds later.
    await node.killAgent()
    await node.waitFor('the lease to be renewed', async () => {
      const lease = await readLease()
      return lease !== undefined && lease.spec.renewTime > renewTime
    })
  })
})

/** What the kubelet answers a client without a certificate, and the certificate that it shows; fails when that is not of this authority. */
function ask(
  { lab }: StandaloneNode,
  { ca, name }: { readonly ca: string; readonly name: string },
): Promise<{ readonly answer: string; readonly certificate: PeerCertificate }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ socket: lab.network.connect('127.0.0.1', 10_250), ca, servername: name }, () => {
      socket.write(`GET /pods HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`)
    })
    const certificate = () => socket.getPeerCertificate()
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('The kubelet closed the connection')))
    socket.once('data', (data) => {
      resolve({ answer: data.toString(), certificate: certificate() })
      socket.destroy()
    })
  })
}
