/** Checks every import in src against tools/layers.ts. Usage: bin/node tools/check-layers.ts [FOLDER] */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import process from 'node:process'
import { criMessages, layers, owners, typesOnly } from './layers.ts'

interface Import {
  readonly line: number
  readonly target: string
  readonly isType: boolean
  /** The whole statement, up to what it imports from. */
  readonly text: string
}

// Statements begin at the start of a line: oxfmt sees to it. What follows "import(" may stand anywhere.
const STATEMENT = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\('([^']+)'\)/gm

function findImports(text: string): readonly Import[] {
  return [...text.matchAll(STATEMENT)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    target: match[2] ?? match[3] ?? '',
    isType: match[1] !== undefined,
    text: match[0],
  }))
}

const folders = Object.keys(layers)

/** The row of the table that a path below src belongs to; undefined for the two programs. */
function folderOf(path: string): string | undefined {
  return folders.find((folder) => path.startsWith(`src/${folder}/`))
}

function covers(entries: readonly string[], folder: string): boolean {
  return entries.some((entry) => folder === entry || folder.startsWith(`${entry}/`))
}

const CRI = 'protocols/cri'
// These types are the generated messages under other names.
const MESSAGE_TYPES = /\bCri(?:Request|Response)\b/

function isMessageOfCri(path: string, text: string): boolean {
  return path.startsWith(`src/${CRI}/generated/`) || (path === `src/${CRI}/cri-methods.ts` && MESSAGE_TYPES.test(text))
}

function findFault(file: string, { target, isType, text }: Import): string | undefined {
  const folder = folderOf(file)
  if (target.startsWith('.')) {
    const path = normalize(join(dirname(file), target))
    if (!path.startsWith('src/')) return 'Nothing in src imports what is outside'
    const other = folderOf(path)
    if (folder === undefined || other === folder) return undefined
    if (other === undefined) return `src/${folder} may not import a program`
    if (!covers(layers[folder] ?? [], other)) return `src/${folder} may not import src/${other}`
    if (!isMessageOfCri(path, text) || folder in criMessages) return undefined
    return `Only src/${CRI}, src/${Object.keys(criMessages).join(', src/')} use the messages of CRI`
  }
  const only = typesOnly[target]
  if (only !== undefined && !isType && file !== only) return `Take its values from ${only}, which says why`
  if (target.startsWith('@bufbuild/') && !file.includes('/generated/')) return 'Only generated codecs use it'
  const owned = owners[target]
  if (owned === undefined && !isBuiltin(target)) return 'No folder owns this package'
  if (owned === undefined || folder === undefined || covers(owned, folder)) return undefined
  return `Only src/${owned.join(', src/')} may use it`
}

/** A line for every import that the table does not allow, and how many files were read. */
export function checkLayers(root: string): { readonly files: number; readonly faults: readonly string[] } {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
  const faults = files.flatMap((file) =>
    findImports(readFileSync(join(root, file), 'utf8')).flatMap((found) => {
      const fault = findFault(file, found)
      return fault === undefined ? [] : [`${file}:${found.line}: '${found.target}': ${fault} (tools/layers.ts)`]
    }),
  )
  const homeless = files.filter((file) => folderOf(file) === undefined && file.split('/').length > 2)
  return {
    files: files.length,
    faults: [...faults, ...homeless.map((file) => `${file}: its folder is not in tools/layers.ts`)],
  }
}

if (import.meta.main) {
  const { files, faults } = checkLayers(process.argv[2] ?? join(import.meta.dirname, '..'))
  for (const fault of faults) console.error(fault)
  if (files === 0) console.error('No file was found to check')
  process.exitCode = files > 0 && faults.length === 0 ? 0 : 1
}
