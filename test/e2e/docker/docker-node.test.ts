import assert from 'node:assert/strict'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isReady, TestNode } from '../support/test-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'

const config = { containerLogMaxSize: '1Ki', containerLogMaxFiles: 3 }
const TALKS = 'i=0; while :; do i=$((i + 1)); echo line $i; echo error $i >&2; usleep 20000; done'

describe('an agent on Docker', () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start({ config }, 'docker')))
  after(() => node[Symbol.asyncDispose]())

  test('runs a pod under the names that tools for Docker know', async () => {
    await node.lab.manifests.write('web', testPod('web', { hostname: 'front' }))
    const { metadata, status } = await node.ready('web')
    assert.match(status?.podIP ?? '', /^10\.88\./)
    assert.match(status?.containerStatuses?.[0]?.containerID ?? '', /^docker:\/\/[0-9a-f]{64}$/)
    const names = await node.lab.docker.names()
    const pod = `web-lab_default_${metadata.uid}_0`
    assert.deepEqual(names.filter((name) => name.includes('_web-lab_')).sort(), [`k8s_POD_${pod}`, `k8s_main_${pod}`])
    assert.equal(await node.runIn('web', ['hostname']), 'front')
  })

  test('has Docker rotate the logs, and shows both outputs apart', async () => {
    await node.lab.manifests.write('talk', testPod('talk', { containers: [testContainer('main', TALKS)] }))
    const pod = await node.ready('talk')
    const { namespace, name, uid } = pod.metadata
    const link = `${node.podLogs}/${namespace}_${name}_${uid}/main/0.log`
    const target = await readlink(link)
    await node.waitFor('three files of the log', async () => {
      return (await readdir(dirname(target))).filter((file) => file.includes('-json.log')).length === 3
    })
    const streams = new Set((await node.logLines(pod)).map(({ stream, text }) => `${stream} ${text.split(' ')[0]}`))
    assert.deepEqual([...streams].sort(), ['stderr error', 'stdout line'])
    assert.equal((await node.ready('talk')).status?.containerStatuses?.[0]?.restartCount, 0)
    // The agent rotates nothing itself, and has nothing to complain of.
    assert.deepEqual(await readdir(dirname(link)), ['0.log'])
    assert.ok(!(await node.agent.log()).some((line) => line.includes('cannot rotate a log')))
    await node.lab.manifests.remove('talk')
    await node.gone(pod)
  })

  test('reports how containers end: by themselves, without memory, or not begun at all', async () => {
    const hog = 'head -c 200m /dev/zero | tail'
    const containers = [
      testContainer('fails', 'echo said; exit 7', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      testContainer('hungry', hog, { resources: { limits: { memory: '16Mi' } } }),
      { ...testContainer('absent', ''), command: ['/no/such/program'] },
    ]
    await node.lab.manifests.write('ends', testPod('ends', { restartPolicy: 'Never', containers }))
    const { status } = await node.podIs('ends', 'Failed', (pod) => pod.status?.phase === 'Failed')
    const ends = Object.fromEntries(
      (status?.containerStatuses ?? []).map(({ name, state }) => [name, state?.terminated]),
    )
    assert.deepEqual([ends['fails']?.exitCode, ends['fails']?.reason, ends['fails']?.message], [7, 'Error', 'said\n'])
    assert.deepEqual([ends['hungry']?.exitCode, ends['hungry']?.reason], [137, 'OOMKilled'])
    assert.deepEqual([ends['absent']?.exitCode, ends['absent']?.reason], [127, 'ContainerCannotRun'])
    assert.match(ends['absent']?.message ?? '', /no such file or directory/)
  })

  test('leaves pods as they are when Docker is killed and comes back', async () => {
    const processes = await node.processes()
    await node.lab.runtime.restart()
    await node.lab.manifests.write('late', testPod('late'))
    await node.ready('late')
    const now = await node.processes()
    for (const [id, pid] of processes) assert.equal(now.get(id), pid)
  })

  test('begins pods again after a Docker that took them down with it', async () => {
    const before = await node.ready('web')
    await node.lab.docker.stopAll()
    await node.lab.runtime.start()
    const web = await node.podIs(
      'web',
      'restarted',
      (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 1,
    )
    assert.equal(web.metadata.uid, before.metadata.uid)
    const names = (await node.lab.docker.names()).filter((name) => name.startsWith('k8s_POD_web-lab_'))
    assert.ok(names.includes(`k8s_POD_web-lab_default_${web.metadata.uid}_1`), names.join())
    assert.equal((await node.running('web')).length, 1)
  })

  test('keeps the resolver file that a pod asks for', async () => {
    const dnsConfig = {
      nameservers: ['10.0.0.53'],
      searches: ['example.org'],
      options: [{ name: 'ndots', value: '2' }],
    }
    const pod = testPod('names', {
      dnsPolicy: 'None',
      dnsConfig,
      containers: [testContainer('main', scripts.obedient)],
    })
    await node.lab.manifests.write('names', pod)
    await node.ready('names')
    const text = await node.runIn('names', ['cat', '/etc/resolv.conf'])
    assert.equal(text, 'search example.org\nnameserver 10.0.0.53\noptions ndots:2')
  })

  test('refuses what Docker cannot do, with the reason', async () => {
    await node.lab.manifests.write('users', testPod('users', { hostUsers: false }))
    const volumes = [{ name: 'files', image: { reference: 'deckhand.local/busybox:1' } }]
    await node.lab.manifests.write('image', testPod('image', { volumes }))
    const messageOf = async (name: string) =>
      (await node.podIs(name, 'Failed', (pod) => pod.status?.phase === 'Failed')).status?.message ?? ''
    assert.match(await messageOf('users'), /user namespaces; .* Docker has none for single pods$/)
    assert.match(await messageOf('image'), /cannot mount images; .* Docker cannot$/)
  })

  test('says what it found', async () => {
    const log = await readFile(node.agent.logFile, 'utf8')
    assert.match(log, /"runtime answers".*runtime="docker" version="\d+\./)
  })
})
