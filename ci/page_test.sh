#!/usr/bin/env bash
# Opens pages of reports as a reader does: well-formed by xmllint; in a headless Chromium without errors, sorted and
# filtered with 10,000 trials, and drawn at 400 and 1600 pixels, light and dark. Exits with 77 where there is no browser,
# and fails there in CI.
#   usage: page_test.sh ASSAY RESULTS.json [FOLDER for the pictures of the screen]
set -euo pipefail
assay=$(realpath "$1")
results=$(realpath "$2")
kept=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
shots=${kept:-$folder}
mkdir -p "$shots"
shots=$(realpath "$shots")
cd "$folder"

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { [ -z "${CI-}" ] || fail "in CI: $*"; echo "skipped: $*"; exit 77; }

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$chromium" ] || skip 'no Chromium is here (apt install chromium)'

# As many trials as a page must bear, with names that try to be markup, made of one that was measured.
python3 - "$results" <<'PYTHON'
import copy, json, sys
results = json.load(open(sys.argv[1]))
measured = [t for t in results["trials"] if t.get("launches")]
hostile = "</script><script>console.error('escaped from a name')</script><img src=x onerror=\"console.error('image')\">"
for name, count, factor in (("few", 2, 1.0), ("many", 10_000, 1.0), ("before", 1000, 1.0), ("now", 1000, 1.5)):
    out = copy.deepcopy(results)
    out["trials"] = []
    for i in range(count):
        trial = copy.deepcopy(measured[i % len(measured)])
        operation, variant = f"op{i // 2 % 40}", ("naive", "packed")[i % 2]
        trial.update(operation=operation, variant=variant, problem=f"n={i // 2}")
        trial["key"] = f"{operation}/{variant}/{trial['problem']}#{trial['threads']}"
        if i == 1: trial["note"] = hostile
        if i % 100 == 1:
            for launch in trial["launches"]:
                launch["seconds"] = [factor * seconds for seconds in launch["seconds"]]
        out["trials"].append(trial)
    out["about"] = hostile
    json.dump(out, open(name + ".json", "w"))

step = lambda i: 0.05 if i < 20 else 0.02 + 0.001 * (i % 3)
json.dump({"schema": "assay.job/1", "job": hostile, "dataset": {"train": 100000, "batch": 100, "validation": 10000},
           "loader": {"workers": 2, "load_contention": 1.1, "compute_contention": 1.0},
           "windows": [{"steps": 200, "wall_seconds": sum(map(step, range(200))), "step_seconds": [step(i) for i in range(200)]}],
           "phases": {"worker": {"kind": "load", "overlaps": True, "seconds": [0.03] * 200},
                      "step": {"kind": "compute", "seconds": [0.018] * 200},
                      "validation": {"kind": "compute", "scope": "validation", "mean_seconds": 0.01, "samples": 50}}},
          open("job.json", "w"))
PYTHON

"$assay" predict job.json --html forecast.html --svg forecasts > forecast.txt
for picture in steps lanes epoch models; do
  [ -s forecasts/$picture.svg ] || fail "a forecast has no picture $picture"
done
"$assay" report few.json --baselines "$folder" --html few.html > few.md
"$assay" report many.json --baselines "$folder" --html report.html --svg pictures > report.md
"$assay" compare before.json now.json --html compare.html > compare.txt || [ $? = 1 ] || fail "compare ended with $?"

if command -v xmllint > /dev/null; then
  # --huge: texts of more than 10 MB, such as the data of 10,000 trials, are refused otherwise.
  xmllint --noout few.html forecast.html pictures/*.svg forecasts/*.svg && xmllint --huge --noout report.html compare.html ||
    fail "a page or picture is not well-formed"
  # A check that cannot fail is none: this one sees a name that was not escaped.
  sed 's|</h1>|<img></h1>|' few.html > planted.html
  ! xmllint --noout planted.html 2> /dev/null || fail "xmllint took a page that is not well-formed"
else
  echo "xmllint is not installed: nothing says whether the pages are well-formed"
fi

browser() {
  timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr \
    --user-data-dir="$folder/profile" "$@"
}
complaints() { grep -E 'CONSOLE.*(rror|escaped|image|refused)' "$1" || true; }

# Clicks and types as a reader would, and leaves in the title what the page then shows.
acting() {
  cat <<'SCRIPT'
<script>
(function () {
  var table = document.querySelector("table.sorted tbody").closest("table");
  document.querySelectorAll("table.sorted").forEach(function (one) {
    if (one.rows.length > table.rows.length) table = one;
  });
  var heads = Array.from(table.tHead.rows[0].cells), column = heads.findIndex(function (head) {
    return head.textContent.startsWith(COLUMN);
  });
  var began = performance.now();
  var button = heads[column].querySelector("button");
  button.click();
  button.click();
  var values = Array.from(table.tBodies[0].rows).map(function (row) {
    return row.cells[column].getAttribute("data-value");
  }).filter(function (text) { return text !== ""; }).map(Number);
  var ordered = values.every(function (value, i) { return i === 0 ? true : values[i - 1] >= value; });
  var field = table.closest("details").querySelector("input");
  field.value = "packed n=499#";
  field.dispatchEvent(new Event("input"));
  var shown = Array.from(table.tBodies[0].rows).filter(function (row) { return !row.hidden; });
  document.title = "rows " + table.tBodies[0].rows.length + ", values " + values.length + ", ordered " + ordered +
    ", shown " + shown.length;
  console.log("sorted and filtered in " + Math.round(performance.now() - began) + " ms, loaded in " +
    Math.round(began) + " ms");
})();
</script>
SCRIPT
}
for page in report compare; do
  column='"time"' && [ "$page" = report ] || column='"ratio"'
  rows=10000 && [ "$page" = report ] || rows=1000
  act=$(acting)
  { sed 's|</body>||; s|</html>||' "$page.html"; echo "${act/COLUMN/$column}</body></html>"; } > acted.html
  browser --dump-dom "file://$folder/acted.html" > dom.html 2> log.txt
  title=$(grep -m1 -o '<title>[^<]*' dom.html)
  case $title in
    *"rows $rows, values $rows, ordered true, shown 1") ;;
    *) fail "$page: after sorting and filtering it shows: $title" ;;
  esac
  [ -z "$(complaints log.txt)" ] || fail "$page: the console says: $(complaints log.txt)"
  echo "$page: $(grep -o 'sorted and filtered[^"]*' log.txt)"
done

# The planted fault: a name that became a script is heard.
sed "s|</h1>|</h1><script>console.error('escaped from a name')</script>|" few.html > planted.html
browser --dump-dom "file://$folder/planted.html" > dom.html 2> log.txt
[ -n "$(complaints log.txt)" ] || fail "an error on the console was not seen"

# Colours change no layout: one width has either scheme, of one page.
for drawn in few_400_light few_1600_dark forecast_400_dark forecast_1600_light \
    compare_400_light compare_1600_light compare_1600_dark; do
  IFS=_ read -r page width scheme <<< "$drawn"
  # 1 is light and 0 is dark.
  preferred=1 && [ "$scheme" = light ] || preferred=0
  browser --window-size="$width,2000" --blink-settings=preferredColorScheme=$preferred \
    --screenshot="$shots/$drawn.png" "file://$folder/$page.html" > /dev/null 2> log.txt
  [ -s "$shots/$drawn.png" ] || fail "no picture of $page at $width pixels, $scheme"
done
cmp -s "$shots/compare_1600_light.png" "$shots/compare_1600_dark.png" && fail "light and dark look the same"
echo "opened, sorted, filtered and drawn"
