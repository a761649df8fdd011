import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolumeMount } from '../../model/generated/core-v1.ts'
import { computeSubPath } from './compute-sub-path.ts'
import { ContainerConfigError } from './pod-config-error.ts'

const environment = () => new Map(Object.entries({ POD: 'web', EMPTY: '' }))
const mount = (parts: Partial<VolumeMount>): VolumeMount => ({ name: 'v', mountPath: '/v', ...parts })

describe('computeSubPath()', () => {
  const rows: readonly (readonly [Partial<VolumeMount>, string])[] = [
    [{}, ''],
    [{ subPath: 'a/$(POD)' }, 'a/$(POD)'],
    [{ subPathExpr: 'a/$(POD)/$$(POD)' }, 'a/web/$(POD)'],
    [{ subPathExpr: 'logs/$(POD)/$$x' }, 'logs/web/$x'],
  ]
  for (const [parts, expected] of rows) {
    test(JSON.stringify(parts), () => assert.equal(computeSubPath(mount(parts), environment), expected))
  }

  for (const name of ['EMPTY', 'NOBODY']) {
    test(`rejects $(${name})`, () => {
      assert.throws(
        () => computeSubPath(mount({ subPathExpr: `$(${name})` }), environment),
        new ContainerConfigError(`missing value for "${name}"`),
      )
    })
  }

  const rejected: readonly (readonly [Partial<VolumeMount>, string])[] = [
    [{ subPath: '/etc' }, 'error SubPath `/etc` must not be an absolute path'],
    [{ subPath: 'a/../b' }, "unable to provision SubPath `a/../b`: must not contain '..'"],
    [{ subPathExpr: '$(POD)/..' }, "unable to provision SubPath `web/..`: must not contain '..'"],
  ]
  for (const [parts, text] of rejected) {
    test(`rejects ${JSON.stringify(parts)} in the words of the Go kubelet`, () => {
      assert.throws(() => computeSubPath(mount(parts), environment), new ContainerConfigError(text))
    })
  }

  test('takes dots in names for what they are', () => {
    assert.equal(computeSubPath(mount({ subPath: '..data/a..b' }), environment), '..data/a..b')
  })

  test('asks for no environment that it does not need', () => {
    assert.equal(
      computeSubPath(mount({ subPath: 'a' }), () => assert.fail('asked')),
      'a',
    )
  })
})
