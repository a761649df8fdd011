import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { SecurityProfile_ProfileType as ProfileType } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { SecurityProfile } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { AppArmorProfile, SeccompProfile } from '../../../model/generated/core-v1.ts'
import { computeAppArmorProfile, computeSeccompProfile } from './compute-security-profiles.ts'
import type { AppArmorChoice } from './compute-security-profiles.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

const runtimeDefault: SecurityProfile = { profileType: ProfileType.RuntimeDefault, localhostRef: '' }
const unconfined: SecurityProfile = { profileType: ProfileType.Unconfined, localhostRef: '' }
const localhost = (localhostRef: string): SecurityProfile => ({ profileType: ProfileType.Localhost, localhostRef })

interface SeccompCase {
  readonly pod?: SeccompProfile
  readonly own?: SeccompProfile
  readonly byDefault?: boolean
}
const seccomp = ({ pod, own, byDefault = false }: SeccompCase) =>
  computeSeccompProfile(
    createPod({ spec: { securityContext: { seccompProfile: pod } } }),
    createContainer({ securityContext: { seccompProfile: own } }),
    { seccompDefault: byDefault, seccompDirectory: '/r/seccomp' },
  )

describe('computeSeccompProfile()', () => {
  const rows: readonly (readonly [SeccompCase, SecurityProfile])[] = [
    [{}, unconfined],
    [{ byDefault: true }, runtimeDefault],
    [{ pod: { type: 'RuntimeDefault' } }, runtimeDefault],
    [{ pod: { type: 'Unconfined' }, byDefault: true }, unconfined],
    [{ pod: { type: 'RuntimeDefault' }, own: { type: 'Unconfined' } }, unconfined],
    [{ own: { type: 'Localhost', localhostProfile: 'a/b.json' } }, localhost('/r/seccomp/a/b.json')],
  ]
  for (const [given, expected] of rows) {
    test(JSON.stringify(given), () => assert.deepEqual(seccomp(given), expected))
  }

  test('rejects a local profile without a name, and other types', () => {
    for (const own of [{ type: 'Localhost' }, { type: 'Localhost', localhostProfile: '' }, { type: 'Other' }]) {
      assert.throws(() => seccomp({ own }), ContainerConfigError)
    }
  })
})

interface AppArmorCase {
  readonly pod?: AppArmorProfile
  readonly own?: AppArmorProfile
  readonly annotation?: string
}
const apparmor = ({ pod, own, annotation }: AppArmorCase) =>
  computeAppArmorProfile(
    createPod({
      metadata: {
        annotations:
          annotation === undefined ? {} : { 'container.apparmor.security.beta.kubernetes.io/main': annotation },
      },
      spec: { securityContext: { appArmorProfile: pod } },
    }),
    createContainer({ securityContext: { appArmorProfile: own } }),
  )

describe('computeAppArmorProfile()', () => {
  const asDefault: AppArmorChoice = { apparmor: runtimeDefault, apparmorProfile: 'runtime/default' }
  const off: AppArmorChoice = { apparmor: unconfined, apparmorProfile: 'unconfined' }
  const strict: AppArmorChoice = { apparmor: localhost('strict'), apparmorProfile: 'localhost/strict' }
  const rows: readonly (readonly [AppArmorCase, AppArmorChoice])[] = [
    [{}, { apparmor: undefined, apparmorProfile: '' }],
    [{ pod: { type: 'RuntimeDefault' } }, asDefault],
    [{ pod: { type: 'RuntimeDefault' }, annotation: 'unconfined' }, off],
    [{ pod: { type: 'Unconfined' }, annotation: '' }, off],
    [{ annotation: 'runtime/default' }, asDefault],
    [{ annotation: 'localhost/strict' }, strict],
    [{ own: { type: 'Localhost', localhostProfile: 'strict' }, annotation: 'unconfined' }, strict],
  ]
  for (const [given, expected] of rows) {
    test(JSON.stringify(given), () => assert.deepEqual(apparmor(given), expected))
  }

  test('rejects what it cannot read', () => {
    assert.throws(() => apparmor({ own: { type: 'Localhost' } }), ContainerConfigError)
    const message =
      'Cannot use "mine" as AppArmor profile of container "main": expected "runtime/default", "unconfined" or "localhost/<profile>"'
    assert.throws(() => apparmor({ annotation: 'mine' }), new ContainerConfigError(message))
  })
})
