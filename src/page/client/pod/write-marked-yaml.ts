import { Document, isMap, isScalar, isSeq } from 'yaml'

/** YAML in which each value at or below one of the paths has a comment. */
export function writeMarkedYaml(value: object, paths: ReadonlySet<string>, mark: string): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  const comment = mark.slice(1)
  const walk = (node: unknown, path: string, isBelow: boolean) => {
    const isMarked = isBelow || paths.has(path)
    const below = (name: unknown) => (path === '' ? String(name) : `${path}/${String(name)}`)
    if (isMap(node) && node.items.length > 0)
      for (const { key, value: child } of node.items) walk(child, below(isScalar(key) ? key.value : key), isMarked)
    else if (isSeq(node) && node.items.length > 0)
      for (const [index, child] of node.items.entries()) walk(child, below(index), isMarked)
    else if (isMarked && (isScalar(node) || isMap(node) || isSeq(node))) node.comment = comment
  }
  walk(document.contents, '', false)
  // Of something empty the comment stands on a line of its own.
  return document.toString({ lineWidth: 0 }).replaceAll(/:\n *(\{\}|\[\])\n *(# default)$/gm, ': $1 $2')
}
