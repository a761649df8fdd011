/** Gives the value of a variable, or undefined for one that is not set. */
export type VariableLookup = (name: string) => string | undefined

const REFERENCE = /\$(?:\$|\(([^)]*)\))/g

/** Puts values for $(NAME) and "$" for "$$", in one pass; everything else stays as it is, unknown names included. */
export function expandVariables(text: string, lookup: VariableLookup): string {
  return text.replace(REFERENCE, (reference, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? reference),
  )
}
