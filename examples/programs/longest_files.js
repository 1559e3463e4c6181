// Returns the three longest chapters, without a model reading any of them.
const { entries } = await tools.files.list_files({ folder: 'docs', glob: '*.md', limit: 40 })
const chapters = await Promise.all(
    entries.map(async ({ path }) => {
        const { text } = await tools.files.read_file({ path })
        const { words } = await tools.text.count_text({ text })
        return { path, words }
    }),
)
console.log(`${chapters.length} chapters`)
return chapters.sort((a, b) => b.words - a.words).slice(0, 3)
