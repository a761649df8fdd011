import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { PodSecurityContext, SecurityContext } from '../../../model/generated/core-v1.ts'
import { computeRunAs } from './compute-run-as.ts'
import type { ImageUser, RunAs } from './compute-run-as.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

const anonymous: ImageUser = { username: '' }
const numbered: ImageUser = { uid: 7n, username: '' }
const root: ImageUser = { uid: 0n, username: '' }
const named: ImageUser = { username: 'app' }

interface Case {
  readonly pod?: PodSecurityContext
  readonly own?: SecurityContext
  readonly image: ImageUser
}
const compute = ({ pod, own, image }: Case) =>
  computeRunAs(
    createPod({ spec: { securityContext: pod } }),
    createContainer(own === undefined ? {} : { securityContext: own }),
    image,
  )
const user = (value: bigint): RunAs => ({ runAsUser: { value }, runAsUsername: '', runAsGroup: undefined })

describe('computeRunAs()', () => {
  const rows: readonly (Case & { readonly name: string; readonly expected: RunAs })[] = [
    { name: 'an image without a user runs as root', image: anonymous, expected: user(0n) },
    { name: 'the number of the image', image: numbered, expected: user(7n) },
    {
      name: 'the name of the image',
      image: named,
      expected: { ...user(0n), runAsUser: undefined, runAsUsername: 'app' },
    },
    { name: 'the pod before the image', pod: { runAsUser: 1 }, image: named, expected: user(1n) },
    {
      name: 'the container before the pod',
      pod: { runAsUser: 1 },
      own: { runAsUser: 2 },
      image: root,
      expected: user(2n),
    },
    { name: 'zero is a user', pod: { runAsUser: 1 }, own: { runAsUser: 0 }, image: numbered, expected: user(0n) },
    {
      name: 'the group of the pod',
      pod: { runAsGroup: 3 },
      image: numbered,
      expected: { ...user(7n), runAsGroup: { value: 3n } },
    },
    {
      name: 'the group of the container before it',
      pod: { runAsGroup: 3 },
      own: { runAsGroup: 0 },
      image: numbered,
      expected: { ...user(7n), runAsGroup: { value: 0n } },
    },
    { name: 'non-root by the image', own: { runAsNonRoot: true }, image: numbered, expected: user(7n) },
    { name: 'non-root by the spec', pod: { runAsNonRoot: true, runAsUser: 5 }, image: root, expected: user(5n) },
    {
      name: 'the container may lift the rule of the pod',
      pod: { runAsNonRoot: true },
      own: { runAsNonRoot: false },
      image: root,
      expected: user(0n),
    },
  ]
  for (const { name, expected, ...given } of rows) {
    test(name, () => assert.deepEqual(compute(given), expected))
  }

  const where = '(pod: "web_shop(u-1)", container: main)'
  const willBeRoot = 'container has runAsNonRoot and image will run as root'
  const rejected: readonly (readonly [Case, message: string])[] = [
    [{ pod: { runAsNonRoot: true, runAsUser: 0 }, image: numbered }, "container's runAsUser breaks non-root policy"],
    [{ pod: { runAsNonRoot: true }, image: root }, willBeRoot],
    [{ own: { runAsNonRoot: true }, image: anonymous }, willBeRoot],
    [
      { own: { runAsNonRoot: true }, image: named },
      'container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root',
    ],
  ]
  for (const [given, message] of rejected) {
    test(`rejects: ${message}, ${JSON.stringify(given.own ?? given.pod)}`, () => {
      assert.throws(() => compute(given), new ContainerConfigError(`${message} ${where}`))
    })
  }
})
