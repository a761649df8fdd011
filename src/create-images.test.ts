import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTracer } from './telemetry/tracer.ts'
import { countImages } from '../test/fakes/counted-images.ts'
import { FakeClock } from '../test/fakes/fake-clock.ts'
import { FakeCri } from '../test/fakes/fake-cri.ts'
import { loadSettings } from '../test/fakes/load-settings.ts'
import { silentLogger } from '../test/fakes/silent-logger.ts'
import { createImages } from './create-images.ts'
import { createCriClient } from './cri/cri-client.ts'

test('createImages() refuses a credential plugin that is not there', async () => {
  const provider = {
    name: 'nowhere',
    matchImages: ['r.example'],
    defaultCacheDuration: '0s',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
  }
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] }
  const argv = ['--image-credential-provider-config=/p', '--image-credential-provider-bin-dir=/no/such/place']
  const settings = await loadSettings(argv, { '/p': JSON.stringify(config) })
  const clock = new FakeClock()
  await using cri = await FakeCri.start({ clock })
  using calls = createCriClient({ runtimeEndpoint: cri.endpoint, requestTimeoutMs: 1000, clock, log: silentLogger })
  const deps = {
    settings,
    calls,
    events: { record: () => {} },
    nodeEvents: { record: () => {} },
    environment: {},
    workingDirectory: '/',
    findSecret: async () => undefined,
    accounts: {
      account: () => assert.fail('no pod asks'),
      token: () => assert.fail('no pod asks'),
    },
    volumeImages: () => [],
    metrics: countImages().metrics,
    tracer: noTracer,
    clock,
    log: silentLogger,
  }
  await assert.rejects(createImages(deps, new AbortController().signal), {
    message: 'Cannot use credential plugin "/no/such/place/nowhere": no such program, expected one that can be run',
  })
})
