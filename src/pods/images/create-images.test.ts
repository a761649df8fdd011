import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { countImages } from '../../../test/fakes/counted-images.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCri } from '../../../test/fakes/fake-cri.ts'
import { FakeObjectApi } from '../../../test/fakes/fake-object-api.ts'
import { loadSettings } from '../../../test/fakes/load-settings.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { readFileSystemSpace } from '../../system/files/file-system-space.ts'
import { readIfPresent } from '../../system/files/read-bounded-file.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import { createImages } from './create-images.ts'
import { createPodAccounts } from '../objects/create-pod-accounts.ts'
import { createCriClient } from '../../protocols/cri/cri-client.ts'
import { PodSandboxConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import { createPodObjects } from '../objects/pod-objects.ts'
import { noTracer } from '../../base/telemetry/tracer.ts'

const V1 = 'credentialprovider.kubelet.k8s.io/v1'

/** All about images with one credential plugin, of a pod's objects in memory and a runtime that only remembers. */
async function setUp(t: TestContext, plugins: string, fields: object) {
  const provider = { matchImages: ['r.example'], defaultCacheDuration: '0s', apiVersion: V1, ...fields }
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] }
  const rootDir = makeTemporaryFolder()
  const argv = [
    `--root-dir=${rootDir}`,
    '--image-credential-provider-config=/p',
    `--image-credential-provider-bin-dir=${plugins}`,
  ]
  const settings = await loadSettings(argv, { '/p': JSON.stringify(config) })
  const clock = new FakeClock()
  const cri = await FakeCri.start({ clock })
  t.after(() => cri[Symbol.asyncDispose]())
  const calls = createCriClient({ runtimeEndpoint: cri.endpoint, requestTimeoutMs: 1000, clock, log: silentLogger })
  t.after(() => calls[Symbol.dispose]())
  const tasks = new TaskGroup(new AbortController().signal)
  const api = new FakeObjectApi(clock)
  const objects = createPodObjects({
    api,
    strategy: 'Get',
    syncFrequencyMs: 60_000,
    nodeTtlMs: () => undefined,
    onChange: () => {},
    tasks,
    clock,
    random: () => 0,
    log: silentLogger,
  })
  const deps = {
    settings,
    calls,
    events: { record: () => {} },
    nodeEvents: { record: () => {} },
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/',
    host: { recordFolder: createRecordFolder, readSpace: readFileSystemSpace, readIfPresent },
    findSecret: async () => undefined,
    accounts: createPodAccounts(objects),
    desiredPods: () => [],
    observedImages: () => [],
    metrics: countImages().metrics,
    tracer: noTracer,
    clock,
    log: silentLogger,
  }
  return { deps, api, cri, rootDir }
}

test('createImages() refuses a credential plugin that is not there', async (t) => {
  const { deps } = await setUp(t, '/no/such/place', { name: 'nowhere' })
  await assert.rejects(createImages(deps, new AbortController().signal), {
    message: 'Cannot use credential plugin "/no/such/place/nowhere": no such program, expected one that can be run',
  })
})

test('createImages() pulls with what a plugin gives for the token of a service account, and opens the image to it', async (t) => {
  const plugins = makeTemporaryFolder()
  const auth = { 'r.example': { username: 'me', password: 'for-TOKEN' } }
  const answer = JSON.stringify({ apiVersion: V1, kind: 'CredentialProviderResponse', cacheKeyType: 'Image', auth })
  const readToken = `sed 's/.*"serviceAccountToken":"\\([^"]*\\)".*"role":"puller".*/\\1/'`
  writeFileSync(`${plugins}/sesame`, `#!/bin/sh\ntoken=$(${readToken})\necho '${answer}' | sed "s/TOKEN/$token/"\n`)
  chmodSync(`${plugins}/sesame`, 0o755)
  const tokenAttributes = {
    serviceAccountTokenAudience: 'registry',
    cacheType: 'ServiceAccount',
    requireServiceAccount: true,
    requiredServiceAccountAnnotationKeys: ['role'],
  }
  const { deps, api, cri, rootDir } = await setUp(t, plugins, { name: 'sesame', tokenAttributes })
  api.put('ServiceAccount', {
    metadata: { namespace: 'shop', name: 'robot', uid: 'sa-1', annotations: { role: 'puller' } },
  })
  const { signal } = new AbortController()
  const { puller } = await createImages(deps, signal)
  const container = createContainer({ image: 'r.example/web:1', imagePullPolicy: 'IfNotPresent' })
  const pod = createPod({ spec: { serviceAccountName: 'robot', containers: [container] } })
  await puller.ensure(
    { pod, podContainer: { kind: 'regular', container }, sandbox: PodSandboxConfig.fromPartial({}) },
    signal,
  )

  assert.deepEqual(api.calls, ['get ServiceAccount shop/robot', 'createToken shop/robot registry'])
  const [pull] = cri.requests('pullImage')
  assert.deepEqual([pull?.auth?.username, pull?.auth?.password], ['me', 'for-token-1'])
  const [name] = readdirSync(`${rootDir}/image_manager/pulled`)
  assert.deepEqual(JSON.parse(readFileSync(`${rootDir}/image_manager/pulled/${name}`, 'utf8')).credentialMapping, {
    'r.example/web': { kubernetesServiceAccounts: [{ uid: 'sa-1', namespace: 'shop', name: 'robot' }] },
  })
})
