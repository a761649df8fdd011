import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { AgentOptions } from '../lab/lab-agent.ts'
import { isReady, TestNode } from '../support/test-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { LOGIN, REGISTRY, TestRegistry } from '../support/test-registry.ts'

// The second failure causes a back-off that is longer than the time to the next try.
const SLOW_MS = 60_000

/** A pod of an image of the registry, which the node does not have yet. */
function privatePod(name: string, repository: string, version = ':1') {
  const image = `${REGISTRY}/${repository}${version}`
  return testPod(name, {
    containers: [testContainer('main', scripts.obedient, { image, imagePullPolicy: 'IfNotPresent' })],
  })
}

function waitingOf(pod: Pod) {
  return pod.status?.containerStatuses?.[0]?.state?.waiting
}

/** Waits until the registry has denied the image of a pod, and until it waits for the next try. */
async function isRefused(node: TestNode, name: string): Promise<void> {
  const whileWaiting = async (reason: string) => {
    const pod = await node.podIs(name, reason, (found) => waitingOf(found)?.reason === reason, SLOW_MS)
    return waitingOf(pod)?.message ?? ''
  }
  assert.match(
    await whileWaiting('ErrImagePull'),
    /authorization failed|401 Unauthorized|no basic auth credentials|authentication required/,
  )
  assert.match(await whileWaiting('ImagePullBackOff'), /^Back-off pulling image ".*": ErrImagePull: /)
}

async function writeLogins(node: TestNode, logins: Readonly<Record<string, typeof LOGIN>>): Promise<void> {
  const auths = Object.entries(logins).map(([location, { username, password }]) => {
    return [`${REGISTRY}/${location}`, { auth: Buffer.from(`${username}:${password}`).toString('base64') }]
  })
  await writeFile(`${node.agent.rootDir}/config.json`, JSON.stringify({ auths: Object.fromEntries(auths) }))
}

/** A plugin that knows the login, and keeps the questions that it was asked. */
async function writePlugin(folder: string): Promise<AgentOptions> {
  await mkdir(`${folder}/plugins`, { recursive: true })
  const apiVersion = 'credentialprovider.kubelet.k8s.io/v1'
  const auth = { [REGISTRY]: LOGIN }
  const answer = { apiVersion, kind: 'CredentialProviderResponse', cacheKeyType: 'Image', auth }
  const script = `#!/bin/sh\ncat >> ${folder}/questions\necho >> ${folder}/questions\necho '${JSON.stringify(answer)}'\n`
  await writeFile(`${folder}/plugins/sesame`, script, { mode: 0o755 })
  const provider = { name: 'sesame', apiVersion, defaultCacheDuration: '1h', matchImages: [`${REGISTRY}/plugin`] }
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] }
  await writeFile(`${folder}/plugins.yaml`, JSON.stringify(config))
  return {
    flags: [
      `--image-credential-provider-config=${folder}/plugins.yaml`,
      `--image-credential-provider-bin-dir=${folder}/plugins`,
    ],
  }
}

// Each with a node of its own, and most of the time they wait for a back-off.
describe('images of a registry', { concurrency: true }, () => {
  test('a private registry opens to the right login only, of the node or of a plugin', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-plugins-'))
    t.after(() => rm(folder, { recursive: true }))
    await using node = await TestNode.start(await writePlugin(folder))
    const registry = await TestRegistry.start(node.lab)
    await registry.push(['right/web', 'wrong/web', 'missing/web', 'plugin/web'])
    await writeLogins(node, { right: LOGIN, wrong: { ...LOGIN, password: 'close-sesame' } })
    for (const name of ['right', 'wrong', 'missing', 'plugin'])
      await node.lab.manifests.write(name, privatePod(name, `${name}/web`))

    await Promise.all([node.ready('right'), node.ready('plugin')])
    await Promise.all(['wrong', 'missing'].map((name) => isRefused(node, name)))
    const question = { apiVersion: 'credentialprovider.kubelet.k8s.io/v1', kind: 'CredentialProviderRequest' }
    assert.deepEqual(JSON.parse(await readFile(`${folder}/questions`, 'utf8')), {
      ...question,
      image: `${REGISTRY}/plugin/web`,
    })

    const records = `${node.agent.rootDir}/image_manager`
    assert.deepEqual(await readdir(`${records}/pulling`), [])
    const pulled = await readdir(`${records}/pulled`)
    const lines = pulled.map(async (name) => {
      const { mode } = await stat(`${records}/pulled/${name}`)
      const { credentialMapping } = JSON.parse(await readFile(`${records}/pulled/${name}`, 'utf8'))
      return `${(mode & 0o777).toString(8)} ${JSON.stringify(credentialMapping)}`
    })
    assert.deepEqual(
      (await Promise.all(lines)).toSorted(),
      ['plugin', 'right'].map((name) => `600 {"${REGISTRY}/${name}/web":{"nodePodsAccessible":true}}`),
    )
    assert.ok(!(await node.agent.log()).some((line) => /sesame[^"/]/.test(line.replaceAll('plugins/sesame', ''))))
  })

  test('ten pods of one image make one pull', async () => {
    await using node = await TestNode.start()
    const registry = await TestRegistry.start(node.lab)
    await registry.push(['team/web'], 1024 * 1024)
    await writeLogins(node, { team: LOGIN })
    // Slow enough that all ten wait for it.
    await registry.slowDown(1024 * 1024)
    const names = Array.from({ length: 10 }, (_, index) => `web-${index}`)
    await Promise.all(names.map((name) => node.lab.manifests.write(name, privatePod(name, 'team/web'))))
    await node.waitFor(
      'ten pods to be ready',
      async () => (await node.agent.pods()).filter(isReady).length === 10,
      60_000,
    )
    const answered = (await registry.requests()).filter(
      (line) => line.startsWith('200 ') && line.includes('/team/web/'),
    )
    const repeated = answered.filter((line, index) => answered.indexOf(line) !== index)
    assert.deepEqual(repeated, [])
    const blobs = answered.filter((line) => line.includes('/blobs/'))
    assert.equal(blobs.length, 2, 'the configuration and the layer')
  })

  test('an image by its digest is pulled, and found again by it', async () => {
    await using node = await TestNode.start()
    const registry = await TestRegistry.start(node.lab)
    await registry.push(['team/exact'])
    await writeLogins(node, { team: LOGIN })
    const digest = await registry.digest('team/exact')
    await node.lab.manifests.write('exact', privatePod('exact', 'team/exact', `@${digest}`))
    const { status } = await node.ready('exact')
    const [container] = status?.containerStatuses ?? []
    assert.ok(container?.imageID?.endsWith(`${REGISTRY}/team/exact@${digest}`) === true, String(container?.imageID))
    const asked = (await registry.requests()).filter((line) => line.includes('/team/exact/manifests/'))
    assert.ok(asked.length > 0 && asked.every((line) => line.includes(digest)), asked.join())
    // The next pod needs no pull.
    await registry.kill()
    await node.lab.manifests.write('again', privatePod('again', 'team/exact', `@${digest}`))
    await node.ready('again')
    const wrong = `@sha256:${'0'.repeat(64)}`
    await registry.run()
    await node.lab.manifests.write('wrong', privatePod('wrong', 'team/exact', wrong))
    const failed = await node.podIs('wrong', 'refused', (pod) => waitingOf(pod)?.reason === 'ErrImagePull')
    assert.match(waitingOf(failed)?.message ?? '', /not found|manifest unknown/)
  })

  test('a pod gets its image when the registry died in the middle of the pull and came back', async () => {
    await using node = await TestNode.start()
    const registry = await TestRegistry.start(node.lab)
    await registry.push(['team/big'], 8 * 1024 * 1024)
    await writeLogins(node, { team: LOGIN })
    await registry.slowDown(256 * 1024)
    await node.lab.manifests.write('big', privatePod('big', 'team/big'))
    const reported = await node.logged('Still pulling image', 'MiB')
    assert.match(reported, /reason="PullProgress".*: [1-9]\d*\.\d of (?:9|1\d)\.\d MiB downloaded so far/)

    await registry.kill()
    // Docker itself tries again, for longer than this test has.
    if (node.lab.runtime.name !== 'docker') {
      const failed = await node.podIs('big', 'without its image', (pod) => waitingOf(pod)?.reason === 'ErrImagePull')
      assert.notEqual(waitingOf(failed)?.message, '')
    }
    await registry.slowDown()
    await registry.run()
    await node.ready('big', SLOW_MS)
  })
})
