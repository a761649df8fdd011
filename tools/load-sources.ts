/**
 * Loaded before a program that runs from its sources (bin/launch.sh). Node finds, reads and strips each of the 900 files by itself, which takes as
 * long as the whole start of a built program: here a relative import names its file, and what was stripped is kept in one file (decision 0020).
 */
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { StrippedSources } from './stripped-sources.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'src')
const folderUrl = `${pathToFileURL(folder).href}/`
// So long after the last file: then the start has ended, and a program that is killed later has written what it stripped.
const WRITE_AFTER_MS = 1000

const sources = new StrippedSources({
  folder,
  file: join(root, '.cache/sources'),
  // Exactly the text that Node itself makes, so that its compile cache has one entry for both.
  strip: (text, path) => stripTypeScriptTypes(text, { sourceUrl: folderUrl + path }),
})
const write = setTimeout(() => sources.write(), WRITE_AFTER_MS).unref()
registerHooks({
  resolve(specifier, context, next) {
    const isSource = specifier.startsWith('.') && specifier.endsWith('.ts')
    if (!isSource || context.parentURL?.startsWith(folderUrl) !== true) return next(specifier, context)
    return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
  },
  load(url, context, next) {
    if (!url.startsWith(folderUrl)) return next(url, context)
    write.refresh()
    return { format: 'module', source: sources.read(url.slice(folderUrl.length)), shortCircuit: true }
  },
})
process.once('exit', () => sources.write())
