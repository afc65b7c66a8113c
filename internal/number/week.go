package number

import (
	"regexp"
	"strconv"
	"time"
)

var isoWeek = regexp.MustCompile(`^(\d{4})-[Ww](\d\d)(?:-([1-7]))?$`)

// Week parses a week of ISO 8601 such as 2026-W31, or a day of one such as 2026-W31-2. It returns the first day, and
// the number of days: 7 or 1. ok is false for other texts, and for a week that the year does not have.
func Week(s string) (day time.Time, days int, ok bool) {
	m := isoWeek.FindStringSubmatch(s)
	if m == nil {
		return day, 0, false
	}
	year, _ := strconv.Atoi(m[1])
	week, _ := strconv.Atoi(m[2])
	day = time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // in week 1
	day = day.AddDate(0, 0, 7*(week-1)-int(day.Weekday()+6)%7)
	y, w := day.ISOWeek()
	if m[3] == "" {
		return day, 7, y == year && w == week
	}
	return day.AddDate(0, 0, int(m[3][0]-'1')), 1, y == year && w == week
}
