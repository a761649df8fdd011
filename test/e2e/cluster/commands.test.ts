import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { deckhand, notInCluster, StandaloneNode } from '../support/standalone-node.ts'
import { isReady } from '../support/test-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'

const skip = notInCluster('about those of the standalone node')

describe('the commands of deckhand know the pods of the API', { skip }, () => {
  let node: StandaloneNode
  before(async () => {
    node = await StandaloneNode.start()
  })
  after(async () => await node[Symbol.asyncDispose]())

  test('why: what a pod waits for, and what was done for it', async () => {
    const volumes = [{ name: 'menu', configMap: { name: 'menu' } }]
    const volumeMounts = [{ name: 'menu', mountPath: '/menu' }]
    const containers = [testContainer('main', scripts.obedient, { volumeMounts })]
    await node.apply(testPod('hungry', { volumes, containers }))
    await node.waitFor('the reason', async () => (await node.explained('hungry'))?.includes('menu'))
    assert.match((await node.deckhand('why', 'hungry')).stdout, /^default\/hungry: .*menu.*\n/)
    await node.kubectl('create', 'configmap', 'menu')
    await node.ready('hungry')
    const { exitCode, stdout } = await node.deckhand('why', 'hungry')
    assert.equal(exitCode, 0)
    assert.match(stdout, /^default\/hungry: Runs and is ready\n( {2}\d\d:\d\d:\d\d\.\d{3} +\S+ s {2}.+\n)+/)
    assert.equal((await node.deckhand('why', 'nobody')).exitCode, 1)
  })

  test('status: the pods, and the line for kubectl', async () => {
    const { exitCode, stdout } = await node.deckhand('status')
    assert.equal(exitCode, 0)
    assert.match(stdout, /default\/hungry +yes +Running +0/)
    const [, ...kubectl] = (/^kubectl +(.*)$/m.exec(stdout)?.[1] ?? '').split(' ')
    const listed = await node.lab.runInside(['kubectl', ...kubectl])
    assert.equal(listed.exitCode, 0, listed.stderr)
    assert.match(listed.stdout, /default +hungry +1\/1 +Running/)
    assert.match(await node.output(), new RegExp(`export KUBECONFIG=${node.state}/admin.kubeconfig`))
  })

  test('status and why: refused manifests, and how a container crashes', async () => {
    await node.writeManifest('wrong', { apiVersion: 'apps/v1', kind: 'Deployment' })
    await node.waitFor('the refusal', async () => (await node.refusedManifests()).length === 1)
    const status = await node.deckhand('status')
    assert.equal(status.exitCode, 1)
    assert.match(
      status.stdout,
      /^Refused files:\n {2}\S+\/wrong\.\w+:\d+: kind: expected "Pod", not "Deployment": apply/m,
    )
    assert.match((await node.deckhand('why', 'wrong')).stdout, /^Refused: \S+\/wrong\.\w+:\d+: kind: /)
    await node.removeManifest('wrong')
    await node.apply(testPod('crashes', { containers: [testContainer('main', 'echo so long; exit 7')] }))
    const crashed = /restarted [2-9] times, last exited with 7, \d+ s ago/
    await node.waitFor('two crashes', async () => crashed.test((await node.explained('crashes')) ?? ''))
    assert.match((await node.deckhand('why', 'pod/crashes')).stdout, /^default\/crashes: /)
    const { stdout } = await node.deckhand('why', 'crashes')
    assert.match(stdout, crashed)
    assert.doesNotMatch(stdout, /Runs and is ready/)
    assert.match(stdout, /last log lines of container "main":\n {4}so long\n/)
    await node.kubectl('delete', 'pod', 'crashes', '--grace-period=0', '--force')
    await node.waitFor('nothing to be left of both', async () => {
      return (await node.refusedManifests()).length === 0 && (await node.explained('crashes')) === undefined
    })
    await node.waitFor('all to be well', async () => (await node.deckhand('status')).exitCode === 0)
  })

  test('down and up: objects are kept, and their pods run again', async () => {
    const containers = [testContainer('main', scripts.exits(4))]
    await node.apply(testPod('done', { restartPolicy: 'Never', containers }))
    const done = await node.podIs('done', 'done', ({ status }) => status?.phase === 'Failed')
    const before = await node.ready('hungry')
    const down = await node.deckhand('down')
    assert.equal(down.exitCode, 0, down.stderr)
    assert.deepEqual(await node.running(), [])
    await node.up()
    const [id] = before.status?.containerStatuses?.map(({ containerID }) => containerID) ?? []
    const again = await node.podIs('hungry', 'ready in another container', (pod) => {
      return isReady(pod) && pod.status?.containerStatuses?.[0]?.containerID !== id
    })
    assert.equal(again.metadata.uid, before.metadata.uid)
    const { metadata, status } = await node.podIs('done', 'there', () => true)
    assert.equal(metadata.uid, done.metadata.uid)
    assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.state?.terminated?.exitCode], ['Failed', 4])
    assert.equal((await node.running(metadata.uid)).length, 0)
  })

  test('shutdown: pods end, the node is not ready and takes none, until that is cancelled', async () => {
    const ready = async () => (await node.node()).status?.conditions?.find(({ type }) => type === 'Ready')?.status
    const { exitCode, stdout, stderr } = await node.deckhand('shutdown')
    assert.equal(exitCode, 0, stderr)
    assert.match(stdout, /^ending \d+ pods? of priority 0 and above\n/)
    // Its container ends well when it is asked to.
    const { status } = await node.podIs('hungry', 'ended', (pod) => pod.status?.phase === 'Succeeded')
    const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
    assert.equal(disruption?.reason, 'TerminationByKubelet')
    await node.waitFor('the node to say so', async () => (await ready()) === 'False')
    await node.apply(testPod('late'))
    await node.podIs('late', 'waiting', ({ status: { conditions } = {} }) => {
      return conditions?.some(({ message }) => message?.includes('untolerated taint')) === true
    })
    const cancelled = await node.deckhand('shutdown', '--cancel')
    assert.equal(cancelled.stdout, 'The shutdown is cancelled; the node takes pods again.\n')
    await node.waitFor('the node to be ready', async () => (await ready()) === 'True')
    await node.ready('late')
    // It was ended by the shutdown alone.
    await node.ready('hungry')
  })

  test('shutdown, down and up: pods run again, those that wait for a port too', async () => {
    const ports = [{ containerPort: 80, hostPort: 18_081 }]
    const containers = [testContainer('main', scripts.obedient, { ports })]
    await node.apply(testPod('first', { containers }))
    await node.ready('first')
    await node.apply(testPod('second', { containers }))
    await node.podIs('second', 'waiting', ({ status: { conditions } = {} }) => {
      return conditions?.some(({ message }) => message?.includes("didn't have free ports")) === true
    })
    const { metadata } = await node.podIs('hungry', 'there', () => true)
    for (const command of ['shutdown', 'down']) {
      const { exitCode, stderr } = await node.deckhand(command)
      assert.equal(exitCode, 0, stderr)
    }
    await node.up()
    const again = await node.ready('hungry')
    assert.notEqual(again.metadata.uid, metadata.uid)
    const both = () => Promise.all(['first', 'second'].map((name) => node.podIs(name, 'there', () => true)))
    await node.waitFor('one of the two to run', async () => (await both()).some(isReady))
    const ready = (await both()).find(isReady)?.metadata.name ?? ''
    await node.kubectl('delete', 'pod', ready)
    await node.ready(ready === 'first' ? 'second' : 'first')
  })

  test('up --wait: fails with what is not ready, returns when all is; the node stays in both cases', async () => {
    const { runtime, cgroupRoot, folder } = node.lab
    const up = (time: string, ...options: readonly string[]) => {
      const place = ['--cgroup-root', `${cgroupRoot}/node`, '--kubelet', `${folder}/agent`]
      return node.deckhand('up', `--wait=${time}`, '--runtime', runtime.endpoint, ...place, ...options)
    }
    await node.endUp('SIGTERM')
    const failed = await up('1s')
    assert.equal(failed.exitCode, 1, failed.stdout)
    assert.match(failed.stderr, /^deckhand: Not everything is ready after \d+ s; the node stays up:\n/)
    assert.match(failed.stderr, /^default\/done: .*exited with 4$/m)
    const waiting = [deckhand, 'up', '--wait=60s', '--state', node.state]
    const interrupted = await node.lab.runInside(['timeout', '--preserve-status', '--signal=INT', '3', ...waiting])
    assert.equal(interrupted.exitCode, 1, interrupted.stdout)
    assert.match(
      interrupted.stderr,
      /^deckhand: Not waiting any more\. The node stays up: "\S*deckhand down .*" stops it\n$/,
    )
    await node.kubectl('delete', 'pod', 'done')
    assert.equal((await node.deckhand('down')).exitCode, 0)
    // A claim that is bound for its first pod is as it has to be while there is none.
    const [accessModes, resources] = [['ReadWriteOnce'], { requests: { storage: '1Mi' } }]
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'unused' } }
    await mkdir(`${folder}/applied`)
    await writeFile(`${folder}/applied/claim.json`, JSON.stringify({ ...claim, spec: { accessModes, resources } }))
    // No time makes a refused file right.
    await writeFile(`${folder}/applied/bad.json`, '{ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {} }')
    const refused = await up('10m', '--apply', `${folder}/applied`)
    assert.equal(refused.exitCode, 1, refused.stdout)
    assert.match(refused.stderr, /^deckhand: Not everything .*\n.*bad\.json: line 1: metadata\.name is missing\n$/)
    assert.equal((await node.deckhand('down')).exitCode, 0)
    await rm(`${folder}/applied/bad.json`)
    const done = await up('60s', '--apply', `${folder}/applied`)
    assert.equal(done.exitCode, 0, done.stderr)
    const waited = await node.deckhand('up', '--wait=60s')
    assert.equal(waited.exitCode, 0, waited.stderr)
    assert.equal(waited.stdout, 'The node is up already.\nEverything is ready.\n')
    assert.match(await node.kubectl('get', 'pvc', 'unused'), /^unused +Pending .*standard /m)
    assert.match(done.stdout, /\nEverything is ready\.\n$/)
    assert.equal((await node.deckhand('status')).exitCode, 0)
    assert.match((await node.deckhand('logs', 'up', '-n', '3')).stdout, /stop all/)
    assert.equal((await up('1s')).exitCode, 3)
    assert.match((await node.deckhand('status')).stdout, /^applied {4}\S+\/applied$/m)
    assert.equal((await node.deckhand('down')).exitCode, 0)
    assert.match((await up('60s')).stdout, /^What came from \S+\/applied stays as it is: .* give --apply once more$/m)
    assert.equal((await node.deckhand('down')).exitCode, 0)
  })
})
