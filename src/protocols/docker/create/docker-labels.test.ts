import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CONTAINER_NAME_LABEL,
  fromDockerLabels,
  SANDBOX_ID_LABEL,
  toDockerLabels,
  TYPE_LABEL,
} from './docker-labels.ts'

test('labels and annotations come back as they were given, and ours stay out of them', () => {
  const labels = { app: 'web', [CONTAINER_NAME_LABEL]: 'main' }
  const annotations = { 'io.kubernetes.container.hash': 'f00' }
  const own = { [TYPE_LABEL]: 'container', [SANDBOX_ID_LABEL]: 'abc' }
  const docker = toDockerLabels(labels, annotations, own)
  assert.deepEqual(docker, { ...labels, 'annotation.io.kubernetes.container.hash': 'f00', ...own })
  assert.deepEqual(fromDockerLabels(docker), { labels, annotations })
})

test('a sandbox has no name of a container', () => {
  const docker = toDockerLabels({ app: 'web' }, {}, { [TYPE_LABEL]: 'podsandbox', [CONTAINER_NAME_LABEL]: 'POD' })
  assert.deepEqual(fromDockerLabels(docker).labels, { app: 'web' })
})

test('no label of a pod takes the place of ours', () => {
  const docker = toDockerLabels({ [TYPE_LABEL]: 'podsandbox' }, {}, { [TYPE_LABEL]: 'container' })
  assert.equal(docker[TYPE_LABEL], 'container')
})
