import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { NO_EXTRAS } from '../../containers/container-extras.ts'
import { joinExtras } from './join-extras.ts'
import type { PodExtras } from './pod-extras.ts'

test('joinExtras() asks each in turn and gives all that they add', async () => {
  const asked: string[] = []
  const create = (name: string): PodExtras => ({
    ensure: async () => void asked.push(`ensure ${name}`),
    containerExtras: async () => ({ ...NO_EXTRAS, cdiDevices: [name] }),
    health: () => new Map([['main', [{ name }]]]),
    release: async () => void asked.push(`release ${name}`),
  })
  const extras = joinExtras([create('a'), create('b')])
  const request = {
    pod: createPod(),
    startsAnew: true,
    container: createContainer(),
    noteStep: <T>(_: string, work: () => Promise<T>) => work(),
  }
  const never = new AbortController().signal
  await extras.ensure(request, never)
  assert.deepEqual((await extras.containerExtras(request, never)).cdiDevices, ['a', 'b'])
  assert.deepEqual(extras.health(request.pod), new Map([['main', [{ name: 'a' }, { name: 'b' }]]]))
  await extras.release({ ...request, uid: request.pod.metadata.uid }, never)
  assert.deepEqual(asked, ['ensure a', 'ensure b', 'release a', 'release b'])
})
