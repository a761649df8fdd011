import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../test/fixtures/make-temporary-folder.ts'
import { fetchPackages, parseArchives } from './fetch-packages.ts'

describe('parseArchives()', () => {
  test('reads names and checksums, and nothing that has none', () => {
    const sha256 = '0'.repeat(64)
    const printed = [
      'Reading package lists...',
      `'http://a.test/pool/c/crun_1.8.1-1%2bdeb12u1_amd64.deb' crun_1.8.1-1+deb12u1_amd64.deb 289288 SHA256:${sha256}`,
      "'http://a.test/pool/w/weak_1_amd64.deb' weak_1_amd64.deb 9 MD5Sum:236faa6c3f9c2f36f6057c144e5a82ba",
    ].join('\n')
    assert.deepEqual(parseArchives(printed), [{ name: 'crun_1.8.1-1+deb12u1_amd64.deb', sha256 }])
  })
})

describe('fetchPackages()', () => {
  test('says what cannot be read, and leaves nothing behind', () => {
    const folder = makeTemporaryFolder()
    const request = { suite: 'trixie', packages: ['crun'], folder: `${folder}/root`, scratch: `${folder}/scratch` }
    assert.throws(
      () => fetchPackages({ ...request, source: { uri: `file://${folder}/no-mirror` } }),
      /Cannot read the list of packages of Debian "trixie" at file:.*no-mirror: /,
    )
    assert.deepEqual([existsSync(request.folder), existsSync(request.scratch)], [false, false])
  })

  test('takes no list without a signature', () => {
    const folder = makeTemporaryFolder()
    mkdirSync(`${folder}/mirror/dists/trixie`, { recursive: true })
    writeFileSync(`${folder}/mirror/dists/trixie/Release`, 'Suite: trixie\nComponents: main\n')
    const request = { suite: 'trixie', packages: ['crun'], folder: `${folder}/root`, scratch: `${folder}/scratch` }
    assert.throws(
      () => fetchPackages({ ...request, source: { uri: `file://${folder}/mirror` } }),
      /Cannot read the list of packages of Debian "trixie" .*not signed/,
    )
  })
})
