import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { parseOsImage, readNodeIdentity } from './read-node-identity.ts'

test('parseOsImage() finds the name for people, however it is quoted', () => {
  const texts = ['ID=x\nPRETTY_NAME="Debian 12"\n', "PRETTY_NAME='Debian 12'", 'PRETTY_NAME=Debian', 'ID=x', '']
  assert.deepEqual(texts.map(parseOsImage), ['Debian 12', 'Debian 12', 'Debian', 'Linux', 'Linux'])
})

test('readNodeIdentity() takes the first file that exists of those that were named', () => {
  const folder = makeTemporaryFolder()
  const path = (name: string) => join(folder, name)
  writeFileSync(path('machine'), 'm-1\n')
  writeFileSync(path('boot'), 'b-1\n')
  const { machineId, bootId, kernelVersion } = readNodeIdentity({
    machineIdFiles: `${path('none')},${path('machine')}`,
    bootIdFiles: path('boot'),
  })
  assert.deepEqual([machineId, bootId], ['m-1', 'b-1'])
  assert.match(kernelVersion, /^\d+\.\d+/)
})

test('readNodeIdentity() does without files that are not there', () => {
  const { machineId, bootId } = readNodeIdentity({ machineIdFiles: '/nowhere', bootIdFiles: '' })
  assert.deepEqual([machineId, bootId], ['', ''])
})
