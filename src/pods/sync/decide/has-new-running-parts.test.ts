import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
} from '../../../../test/component/create-pod-deps.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { hasNewRunningParts } from './has-new-running-parts.ts'

const container = (id: string, state: 'created' | 'running' | 'exited') =>
  createObservedPod({ containers: [createObservedContainer({ id, state })] })
const sandbox = (id: string, ready: boolean) => createObservedPod({ sandboxes: [createObservedSandbox({ id, ready })] })

interface Case {
  readonly name: string
  readonly before: ObservedPod | undefined
  readonly after: ObservedPod | undefined
  readonly expected: boolean
}

const cases: readonly Case[] = [
  { name: 'nothing before and after', before: undefined, after: undefined, expected: false },
  { name: 'all is gone', before: container('a', 'running'), after: undefined, expected: false },
  { name: 'what ran still runs', before: container('a', 'running'), after: container('a', 'running'), expected: false },
  { name: 'a container came', before: undefined, after: container('a', 'running'), expected: true },
  {
    name: 'one took the place of another',
    before: container('a', 'running'),
    after: container('b', 'running'),
    expected: true,
  },
  {
    name: 'what was only made runs',
    before: container('a', 'created'),
    after: container('a', 'running'),
    expected: true,
  },
  { name: 'what came has exited already', before: undefined, after: container('a', 'exited'), expected: false },
  { name: 'a sandbox came', before: undefined, after: sandbox('s', true), expected: true },
  { name: 'a dead sandbox came', before: undefined, after: sandbox('s', false), expected: false },
]

for (const { name, before, after, expected } of cases) {
  test(`hasNewRunningParts(): ${name}`, () => assert.equal(hasNewRunningParts(before, after), expected))
}
