/**
 * Writes dist: the same programs in few files of JavaScript, which Node loads in half of the time and memory, with the npm packages they use; what those
 * are, and their licences.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { buildPage } from './build-page.ts'
import { buildPrograms, PROGRAMS } from './build-programs.ts'
import { writePrograms } from './program/write-programs.ts'
import { findPackages, toNotices, toSbom } from './bundled-packages.ts'

// npm packs files with the modes that they have: any user has to be able to read what another one installed.
process.umask(0o022)
const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
mkdirSync(join(root, '.cache'), { recursive: true })
const work = mkdtempSync(join(root, '.cache/build-'))
const fresh = join(work, 'dist')
mkdirSync(fresh)
// What is changed from here on is newer: the launchers then take the sources (bin/launch.sh).
writeFileSync(join(fresh, 'made'), '')
const built = join(work, 'built')
const inputs = [...(await buildPrograms(root, built)), ...(await buildPage(root, join(fresh, 'page')))]
await writePrograms(built, fresh, Object.keys(PROGRAMS))
const packages = findPackages(root, inputs)
writeFileSync(join(fresh, 'sbom.cdx.json'), toSbom(root, packages))
writeFileSync(join(fresh, 'THIRD-PARTY-LICENSES.txt'), toNotices(packages))
// A command that starts between these two finds nothing built, and takes the sources.
if (existsSync(dist)) renameSync(dist, join(work, 'old'))
renameSync(fresh, dist)
rmSync(work, { recursive: true })
