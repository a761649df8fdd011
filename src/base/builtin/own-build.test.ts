import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { formatOwnBuild, ownBuild } from './own-build.ts'

const node = `Node ${process.versions.node}`
const cases = [
  { build: { version: '1.2.3', commit: '0a1b2c3d' }, text: `1.2.3 (commit 0a1b2c3d, ${node})` },
  { build: { version: '1.2.3', commit: '' }, text: `1.2.3 (${node})` },
  { build: undefined, text: `from sources (${node})` },
]

for (const { build, text } of cases)
  test(`a build is named as ${text}`, () => assert.equal(formatOwnBuild(build), text))

test('sources know of no build', () => assert.equal(ownBuild, undefined))
