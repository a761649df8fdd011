import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../test/fixtures/make-temporary-folder.ts'
import { parseLines, parseStanzas, readCodename, readPackageSource } from './package-source.ts'

describe('parseLines()', () => {
  test('reads sources of binary packages, with and without options', () => {
    const text = [
      '# deb http://commented.test bookworm main',
      'deb-src http://source.test bookworm main',
      'deb http://plain.test/debian bookworm main contrib',
      'deb [arch=amd64 signed-by=/keys/a.gpg] http://signed.test/debian trixie main',
    ].join('\n')
    assert.deepEqual(parseLines(text), [
      { uri: 'http://plain.test/debian', suites: ['bookworm'] },
      { uri: 'http://signed.test/debian', suites: ['trixie'], signedBy: '/keys/a.gpg' },
    ])
  })
})

describe('parseStanzas()', () => {
  test('reads enabled sources of binary packages', () => {
    const text = `Types: deb deb-src
# a comment
URIs: http://one.test/debian http://other.test/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /keys/a.gpg

Types: deb-src
URIs: http://source.test/debian
Suites: bookworm

Types: deb
URIs: http://off.test/debian
Suites: bookworm
Enabled: no

Types: deb
URIs: http://inline.test/debian
Suites: bookworm
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
`
    assert.deepEqual(parseStanzas(text), [
      { uri: 'http://one.test/debian', suites: ['bookworm', 'bookworm-updates'], signedBy: '/keys/a.gpg' },
      { uri: 'http://inline.test/debian', suites: ['bookworm'] },
    ])
  })
})

describe('readPackageSource()', () => {
  test('is the source of the release that runs, in either form', () => {
    const folder = makeTemporaryFolder()
    mkdirSync(`${folder}/sources.list.d`)
    assert.equal(readPackageSource('trixie', folder), undefined)
    writeFileSync(`${folder}/sources.list.d/b.sources`, 'Types: deb\nURIs: http://b.test\nSuites: trixie\n')
    writeFileSync(`${folder}/sources.list.d/a.list`, 'deb http://a.test stable main\n')
    writeFileSync(`${folder}/sources.list.d/c.disabled`, 'deb http://c.test trixie main\n')
    assert.deepEqual(readPackageSource('trixie', folder), { uri: 'http://b.test' })
    writeFileSync(`${folder}/sources.list`, 'deb http://main.test trixie main\n')
    assert.deepEqual(readPackageSource('trixie', folder), { uri: 'http://main.test' })
    assert.equal(readPackageSource('bookworm', folder), undefined)
  })
})

describe('readCodename()', () => {
  test('is the name of a release of Debian', () => {
    const file = `${makeTemporaryFolder()}/os-release`
    assert.equal(readCodename(file), '')
    writeFileSync(file, 'ID=debian\nVERSION_CODENAME=trixie\n')
    assert.equal(readCodename(file), 'trixie')
    writeFileSync(file, 'ID=ubuntu\nVERSION_CODENAME=noble\n')
    assert.equal(readCodename(file), '')
  })
})
