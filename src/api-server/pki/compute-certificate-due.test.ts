import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeCertificateDue } from './compute-certificate-due.ts'
import type { OwnCertificateInfo } from './compute-certificate-due.ts'

const good: OwnCertificateInfo = { notBefore: 0, notAfter: 900, isOfAuthority: true, names: ['a', '::1'] }

// What is special about the certificate, the time, and why it has to be replaced.
const rows: readonly (readonly [
  name: string,
  info: Partial<OwnCertificateInfo>,
  now: number,
  due: string | undefined,
])[] = [
  ['a young one stays', {}, 1, undefined],
  ['one with a third of its time left stays', {}, 600, undefined],
  ['one with less is renewed', {}, 601, 'it expires soon'],
  ['one that has ended is renewed', {}, 900, 'it has expired'],
  ['one from the future, after the clock was set back, is renewed', {}, -1, 'it is not valid yet'],
  ['one of another authority is renewed', { isOfAuthority: false }, 1, 'another authority signed it'],
  ['one that lacks a name is renewed', { names: ['a'] }, 1, 'it is for other names'],
  ['one that has a name too many is renewed', { names: ['a', '::1', 'b'] }, 1, 'it is for other names'],
  ['the order of names does not matter', { names: ['::1', 'a'] }, 1, undefined],
]

describe('computeCertificateDue()', () => {
  for (const [name, info, now, due] of rows) {
    test(name, () => assert.equal(computeCertificateDue({ ...good, ...info }, ['a', '::1'], now), due))
  }
})
