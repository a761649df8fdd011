import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { NO_INJECTIONS } from '../../containers/container-injections.ts'
import { joinInjections } from './join-injections.ts'
import type { PodInjections } from './pod-injections.ts'

test('joinInjections() asks each in turn and gives all that they add', async () => {
  const asked: string[] = []
  const create = (name: string): PodInjections => ({
    ensure: async () => void asked.push(`ensure ${name}`),
    containerInjections: async () => ({ ...NO_INJECTIONS, cdiDevices: [name] }),
    rejectLost: () => (name === 'b' ? { reason: name, message: '' } : undefined),
    health: () => new Map([['main', [{ name }]]]),
    release: async () => void asked.push(`release ${name}`),
  })
  const injections = joinInjections([create('a'), create('b')])
  const request = {
    pod: createPod(),
    startsAgain: true,
    container: createContainer(),
    noteStep: <T>(_: string, work: () => Promise<T>) => work(),
  }
  const never = new AbortController().signal
  await injections.ensure(request, never)
  assert.deepEqual((await injections.containerInjections(request, never)).cdiDevices, ['a', 'b'])
  assert.deepEqual(injections.health(request.pod), new Map([['main', [{ name: 'a' }, { name: 'b' }]]]))
  assert.deepEqual(injections.rejectLost(request.pod), { reason: 'b', message: '' })
  await injections.release({ ...request, uid: request.pod.metadata.uid }, never)
  assert.deepEqual(asked, ['ensure a', 'ensure b', 'release a', 'release b'])
})
