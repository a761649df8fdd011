import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoader } from './create-loader.ts'

test('createLoader() loads a file again that could not be loaded, and one that could only once', () => {
  let runs = 0
  const isOpen: Record<string, boolean> = { 'first.js': true, 'second.js': false }
  const texts: Readonly<Record<string, string>> = {
    'first.js': '(function (module, exports, require) { exports.second = require("./second.js").name })',
    'second.js': '(function (module, exports, require, meta) { exports.name = meta.filename; process.emit("ran") })',
  }
  const count = () => void (runs += 1)
  process.on('ran', count)
  const load = createLoader({
    folder: '/dist/',
    scripts: '/dist/scripts/',
    readText(name) {
      if (isOpen[name] !== true) throw new Error('EMFILE')
      return texts[name] ?? ''
    },
  })
  assert.throws(() => load('first.js'), /EMFILE/)
  isOpen['second.js'] = true
  for (let time = 0; time < 2; time += 1) assert.deepEqual(load('first.js'), { second: '/dist/second.js' })
  assert.equal(runs, 1)
  process.removeListener('ran', count)
})
