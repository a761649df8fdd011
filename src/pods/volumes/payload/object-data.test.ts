import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configMapData, secretData } from './object-data.ts'

describe('configMapData() and secretData()', () => {
  test('text is UTF-8, binary data and secrets are bytes', () => {
    assert.deepEqual(
      configMapData({ data: { text: 'é' }, binaryData: { bytes: 'AP+A' } }),
      new Map([
        ['text', Uint8Array.of(0xc3, 0xa9)],
        ['bytes', Uint8Array.of(0, 0xff, 0x80)],
      ]),
    )
    assert.deepEqual(
      secretData({ data: { empty: '', bytes: '/w==' } }),
      new Map([
        ['empty', new Uint8Array()],
        ['bytes', Uint8Array.of(0xff)],
      ]),
    )
    assert.deepEqual(configMapData({}), new Map())
    assert.deepEqual(secretData({}), new Map())
  })

  test('what is no base64 is reported by its key only', () => {
    assert.throws(() => secretData({ data: { password: 'hunter2!' } }), {
      message: 'Cannot read key "password": expected base64',
    })
  })
})
