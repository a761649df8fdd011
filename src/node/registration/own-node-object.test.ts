import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../model/generated/core-v1.ts'
import { OwnNodeObject } from './own-node-object.ts'

test('OwnNodeObject is an answer of the API until the watch moves on', () => {
  const version = (resourceVersion: string): Node => ({ metadata: { resourceVersion } })
  let watched: Node | undefined
  const own = new OwnNodeObject(() => watched)
  const seen = () => own.current?.metadata?.resourceVersion
  const steps: [() => void, string | undefined][] = [
    [() => {}, undefined],
    [() => own.note(version('1')), '1'],
    [() => (watched = version('0')), '0'],
    [() => own.note(version('2')), '2'],
    [() => (watched = version('2')), '2'],
    [() => (watched = version('3')), '3'],
    [() => own.note(version('4')), '4'],
    [() => (watched = undefined), undefined],
    [() => own.note(version('5')), '5'],
    [() => own.noteGone(), undefined],
  ]
  for (const [step, expected] of steps) {
    step()
    assert.equal(seen(), expected)
  }
})
